// Several agents at one address: the client sends the tenant that the card of an agent names.

import assert from 'node:assert/strict';

import { A2AError, TaskNotFoundError } from '@a2a-js/sdk/errors';
import { status } from '@grpc/grpc-js';

import { check, refused } from './checks.mjs';
import { cancel, collect, get, list, request, stateOf, states, subscribe, texts } from './sdk.mjs';

check('every operation reaches the agent of the card', async (site) => {
  const client = await site.client('several', { tenant: 'second' });
  const task = await client.sendMessage(request('ask'));
  const subscribed = collect(client.resubscribeTask(subscribe(task.id)));
  assert.equal((await client.getTask(get(task.id))).id, task.id);
  const listed = await client.listTasks(list({ contextId: task.contextId }));
  assert.deepEqual(listed.tasks.map((one) => one.id), [task.id]);
  const answered = await collect(client.sendMessageStream(request('blue', { task })));
  assert.equal(states(answered).at(-1), 'COMPLETED');
  assert.equal(states(await subscribed).at(-1), 'COMPLETED');
  const parked = await client.sendMessage(request('ask'));
  assert.equal(stateOf(await client.cancelTask(cancel(parked.id))), 'CANCELED');
  const extended = await client.getAgentCard();
  assert.equal(extended.name, 'Second desk');
  assert.deepEqual(extended.skills.map((skill) => skill.id), ['script', 'extra']);
});

check('a task belongs to its agent', async (site) => {
  const second = await site.client('several', { tenant: 'second' });
  const standard = await site.client('several');
  const task = await second.sendMessage(request('echo hello'));
  assert.deepEqual(texts(task.artifacts[0]), ['hello']);
  await refused(TaskNotFoundError, () => standard.getTask(get(task.id)));
  assert.deepEqual((await standard.listTasks(list({ contextId: task.contextId }))).tasks, []);
});

check('an unknown tenant', async (site) => {
  const edit = (card) => card.supportedInterfaces.forEach((one) => Object.assign(one, { tenant: 'nobody' }));
  const client = await site.client('several', { edit });
  const error = await refused(A2AError, () => client.sendMessage(request('echo hello')));
  if (site.jsonrpc) assert.equal(error.envelopeCode, -32602);
  else if (site.grpc) assert.equal(error.status, status.INVALID_ARGUMENT);
  else assert.equal(error.statusCode, 404);
});
