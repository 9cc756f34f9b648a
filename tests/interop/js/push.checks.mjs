// Webhooks: the four operations, and what arrives at an address of the client's.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';

import { TaskNotFoundError } from '@a2a-js/sdk/errors';

import { check, refused } from './checks.mjs';
import { request, stateOf } from './sdk.mjs';

/** Listen on loopback while `work` is done with the address and the list of what has been posted there. */
async function receiving(work) {
  const posts = [];
  const server = createServer(async (incoming, outgoing) => {
    let body = '';
    for await (const piece of incoming) body += piece;
    posts.push({ headers: incoming.headers, event: JSON.parse(body) });
    outgoing.writeHead(204).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await work(`http://127.0.0.1:${server.address().port}/hook`, posts);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const config = (members) => ({ tenant: '', id: '', taskId: '', token: '', authentication: undefined, ...members });
const AUTHENTICATION = { scheme: 'Bearer', credentials: 'cred' };

check('webhooks are registered, read, listed, replaced and deleted', async (site) => {
  const client = await site.client();
  const { id: taskId } = await client.sendMessage(request('ask'));
  const sent = config({ taskId, id: 'c1', url: 'https://93.184.215.14/a', token: 'tok', authentication: AUTHENTICATION });
  const named = { tenant: '', taskId, id: 'c1' };
  const list = { tenant: '', taskId, pageSize: 0, pageToken: '' };
  assert.deepEqual(await client.createTaskPushNotificationConfig(sent), sent);
  assert.deepEqual(await client.getTaskPushNotificationConfig(named), sent);
  const changed = config({ taskId, id: 'c1', url: 'https://93.184.215.14/b' });
  assert.deepEqual(await client.createTaskPushNotificationConfig(changed), changed);
  const own = await client.createTaskPushNotificationConfig(config({ taskId, url: 'https://93.184.215.14/c' }));
  assert(own.id && own.id !== 'c1');
  assert.deepEqual((await client.listTaskPushNotificationConfig(list)).configs, [changed, own]);
  for (let i = 0; i < 2; i += 1) await client.deleteTaskPushNotificationConfig(named);
  assert.deepEqual((await client.listTaskPushNotificationConfig(list)).configs, [own]);
  await refused(TaskNotFoundError, () => client.getTaskPushNotificationConfig(named));
});

check('a webhook that comes with a message is told everything', async (site) => {
  await receiving(async (url, posts) => {
    const client = await site.client();
    const taskPushNotificationConfig = config({ url, token: 'tok', authentication: AUTHENTICATION });
    const task = await client.sendMessage(request('echo hello', { taskPushNotificationConfig }));
    assert.equal(stateOf(task), 'COMPLETED');
    const end = ({ event }) => event.statusUpdate?.status.state === 'TASK_STATE_COMPLETED';
    for (let i = 0; i < 200 && !posts.some(end); i += 1) await new Promise((done) => setTimeout(done, 50));
    assert(end(posts.at(-1)));
    assert(posts.some(({ event }) => event.artifactUpdate?.artifact.parts[0].text === 'hello'));
    for (const { headers } of posts) {
      assert.equal(headers.authorization, 'Bearer cred');
      assert.equal(headers['x-a2a-notification-token'], 'tok');
      assert.equal(headers['content-type'], 'application/a2a+json');
    }
  });
});
