// Calls that are answered at once: send, get, list, cancel.

import assert from 'node:assert/strict';

import { TaskState } from '@a2a-js/sdk';

import { check } from './checks.mjs';
import { cancel, get, list, part, request, sleep, stateOf, texts } from './sdk.mjs';

// -- send

check('a blocking send answers with the finished task', async (site) => {
  const client = await site.client();
  const question = request('slow 2');
  const task = await client.sendMessage(question);
  assert.equal(stateOf(task), 'COMPLETED');
  assert.deepEqual(task.artifacts.map((one) => [one.artifactId, texts(one)]), [['ticks', ['tick-0', 'tick-1']]]);
  assert(task.id && task.contextId && Date.parse(task.status.timestamp));
  assert.deepEqual(task.history, [{ ...question.message, taskId: task.id, contextId: task.contextId }]);
});

check('an agent may answer with a message', async (site) => {
  const message = await (await site.client()).sendMessage(request('direct good morning'));
  assert(message.messageId);
  assert.deepEqual(texts(message), ['good morning']);
  assert(message.contextId);
  assert.equal(message.taskId, '');
});

check('a send that returns immediately is followed by polling', async (site) => {
  const client = await site.client('main', { config: { polling: true } });
  const { returnImmediately: _, ...configuration } = request('').configuration;
  let task = await client.sendMessage({ ...request('slow 8'), configuration });
  assert(['SUBMITTED', 'WORKING'].includes(stateOf(task)), stateOf(task));
  while (stateOf(task) !== 'COMPLETED') {
    await sleep(100);
    task = await client.getTask(get(task.id));
  }
  assert.deepEqual(texts(task.artifacts[0]), [...Array(8).keys()].map((i) => `tick-${i}`));
});

check('the ends that are no success', async (site) => {
  const client = await site.client();
  for (const [text, state, words] of [['fail', 'FAILED', 'it did not work'], ['reject', 'REJECTED', 'not here']]) {
    const task = await client.sendMessage(request(text));
    assert.equal(stateOf(task), state);
    assert.deepEqual(texts(task.status.message), [words]);
  }
});

check('parts of every kind come back as they went', async (site) => {
  const parts = [
    part('raw', Buffer.from([...Array(256).keys()]), { mediaType: 'application/json', filename: 'bytes.bin' }),
    part('url', 'https://e.example/picture?a=1&b=%20', { mediaType: 'text/plain' }),
    part('data', { ü: [1, 2.5, true, null, { deep: [] }], '': '' }, { metadata: { page: 7, tags: ['a', 'b'] } }),
    part('data', []),
    part('data', 0),
    part('text', ''),
  ];
  const task = await (await site.client()).sendMessage(request(['copy', ...parts]));
  assert.equal(stateOf(task), 'COMPLETED');
  assert.deepEqual(task.artifacts[0].parts, parts);
});

check('odd text comes back as it went', async (site) => {
  const client = await site.client();
  for (const text of ['<b>&amp;</b>\u2028\u0085\r\n', '日本語 e\u0301 👩‍👩‍👧', '"\\\x01\x7f']) {
    assert.deepEqual(texts((await client.sendMessage(request(`echo ${text}`))).artifacts[0]), [text]);
  }
});

// -- several turns

check('a question is answered in the same task', async (site) => {
  const client = await site.client();
  let task = await client.sendMessage(request('ask 2'));
  for (let turn = 0; turn < 2; turn += 1) {
    assert.equal(stateOf(task), 'INPUT_REQUIRED');
    assert.deepEqual(texts(task.status.message), ['which colour?']);
    const next = await client.sendMessage(request('blue', { task }));
    assert.deepEqual([next.id, next.contextId], [task.id, task.contextId]);
    task = next;
  }
  assert.equal(stateOf(task), 'COMPLETED');
  assert.deepEqual(texts(task.artifacts[0]), ['blue']);
  assert.deepEqual(task.history.flatMap(texts), ['ask 2', 'which colour?', 'blue', 'which colour?', 'blue']);
});

check('a new task in a known context', async (site) => {
  const client = await site.client();
  const first = await client.sendMessage(request('echo one'));
  const second = await client.sendMessage(request('echo two', { task: { contextId: first.contextId } }));
  assert.equal(second.contextId, first.contextId);
  assert.notEqual(second.id, first.id);
});

// -- get

check('get cuts the history to the newest', async (site) => {
  const client = await site.client();
  const task = await client.sendMessage(request('ask 2'));
  await client.sendMessage(request('red', { task }));
  await client.sendMessage(request('blue', { task }));
  const whole = await client.getTask(get(task.id));
  assert.equal(whole.history.length, 5);
  assert.deepEqual(texts(whole.artifacts[0]), ['blue']);
  for (const length of [0, 1, 2, 5, 50]) {
    const cut = await client.getTask(get(task.id, length));
    assert.deepEqual(cut.history, length ? whole.history.slice(-length) : []);
  }
});

check('a send cuts the history too', async (site) => {
  const client = await site.client();
  const task = await client.sendMessage(request('ask', { historyLength: 0 }));
  assert.deepEqual(task.history, []);
  const done = await client.sendMessage(request('green', { task, historyLength: 1 }));
  assert.deepEqual(done.history.flatMap(texts), ['green']);
});

// -- list

check('list turns its pages', async (site) => {
  const client = await site.client();
  const tasks = [await client.sendMessage(request('echo 0'))];
  const { contextId } = tasks[0];
  while (tasks.length < 7) {
    tasks.push(await client.sendMessage(request(`echo ${tasks.length}`, { task: { contextId } })));
  }
  const pages = [];
  let pageToken = '';
  do {
    const page = await client.listTasks(list({ contextId, pageSize: 3, pageToken, includeArtifacts: true }));
    assert.deepEqual([page.pageSize, page.totalSize], [3, 7]);
    assert(page.tasks.every((task) => texts(task.artifacts[0]).length));
    pages.push(page.tasks.map((task) => task.id));
    pageToken = page.nextPageToken;
  } while (pageToken);
  assert.deepEqual(pages.map((page) => page.length), [3, 3, 1]);
  assert.deepEqual(pages.flat(), tasks.map((task) => task.id).reverse());
});

check('list filters', async (site) => {
  const client = await site.client();
  const done = await client.sendMessage(request('echo x'));
  const { contextId } = done;
  const waiting = await client.sendMessage(request('ask', { task: { contextId } }));
  const listed = async (filters) => (await client.listTasks(list({ contextId, ...filters }))).tasks;
  const ids = async (filters) => (await listed(filters)).map((task) => task.id);

  assert.deepEqual(await ids({}), [waiting.id, done.id]);
  assert.deepEqual((await listed({})).map((task) => task.artifacts), [[], []]);
  assert.deepEqual(await ids({ status: TaskState.TASK_STATE_COMPLETED }), [done.id]);
  assert.deepEqual(await ids({ status: TaskState.TASK_STATE_INPUT_REQUIRED }), [waiting.id]);
  assert.deepEqual(await ids({ status: TaskState.TASK_STATE_FAILED }), []);
  assert.deepEqual(await ids({ statusTimestampAfter: waiting.status.timestamp }), [waiting.id]);
  const later = new Date(Date.parse(waiting.status.timestamp) + 60_000).toISOString();
  assert.deepEqual(await ids({ statusTimestampAfter: later }), []);
  assert.deepEqual((await listed({ historyLength: 0 })).map((task) => task.history), [[], []]);
});

check('another user sees nothing of it', async (site) => {
  const { contextId } = await (await site.client()).sendMessage(request('echo x'));
  const bob = await site.client('main', { user: 'bob' });
  assert.deepEqual((await bob.listTasks(list({ contextId }))).tasks, []);
});

// -- cancel

check('cancel ends a running task', async (site) => {
  const client = await site.client();
  const task = await client.sendMessage(request('quiet 60', { returnImmediately: true }));
  const canceled = await client.cancelTask(cancel(task.id));
  assert.deepEqual([canceled.id, stateOf(canceled)], [task.id, 'CANCELED']);
  assert.equal(stateOf(await client.getTask(get(task.id))), 'CANCELED');
});

check('cancel ends a task that waits for an answer', async (site) => {
  const client = await site.client();
  const task = await client.sendMessage(request('ask'));
  assert.equal(stateOf(await client.cancelTask(cancel(task.id))), 'CANCELED');
});
