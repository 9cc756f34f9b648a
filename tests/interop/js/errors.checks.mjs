// Whatever is refused reaches the client as the SDK's own error for it.

import assert from 'node:assert/strict';

import { TaskState } from '@a2a-js/sdk';
import {
  A2AError,
  ContentTypeNotSupportedError,
  ExtendedAgentCardNotConfiguredError,
  ExtensionSupportRequiredError,
  InvalidAgentResponseError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
  VersionNotSupportedError,
} from '@a2a-js/sdk/errors';
import { status } from '@grpc/grpc-js';

import { check, refused } from './checks.mjs';
import { cancel, collect, extensions, get, list, part, request, stateOf, subscribe } from './sdk.mjs';

const UNKNOWN = '01890a5d-ac96-774b-bcce-b302099a8057';
const REQUIRED = 'https://e.example/ext/a/v1';
const OPTIONAL = 'https://e.example/ext/b/v1';

/** An error for which the SDK has no class: it tells the code of JSON-RPC or the status of HTTP or gRPC. */
async function refusedWith(site, { code, http, grpc }, call) {
  const error = await refused(A2AError, call);
  if (site.jsonrpc) assert.equal(error.envelopeCode, code);
  else if (site.grpc) assert.equal(error.status, grpc);
  else assert.equal(error.statusCode, http);
  return error;
}

/** Both ways of sending. */
const sends = (client) => [
  (message, options) => client.sendMessage(message, options),
  (message, options) => collect(client.sendMessageStream(message, options)),
];

// -- tasks

check('task not found', async (site) => {
  const client = await site.client();
  for (const id of [UNKNOWN, 'no id of ours/../%2e']) {
    await refused(TaskNotFoundError, () => client.getTask(get(id)));
    await refused(TaskNotFoundError, () => client.cancelTask(cancel(id)));
    await refused(TaskNotFoundError, () => collect(client.resubscribeTask(subscribe(id))));
    for (const send of sends(client)) {
      await refused(TaskNotFoundError, () => send(request('hello', { task: { id } })));
    }
  }
});

check('a foreign task is not found', async (site) => {
  const task = await (await site.client()).sendMessage(request('ask'));
  const bob = await site.client('main', { user: 'bob' });
  await refused(TaskNotFoundError, () => bob.getTask(get(task.id)));
  await refused(TaskNotFoundError, () => bob.cancelTask(cancel(task.id)));
  await refused(TaskNotFoundError, () => collect(bob.resubscribeTask(subscribe(task.id))));
  for (const send of sends(bob)) await refused(TaskNotFoundError, () => send(request('blue', { task })));
});

check('task not cancelable', async (site) => {
  const client = await site.client();
  const task = await client.sendMessage(request('echo x'));
  await refused(TaskNotCancelableError, () => client.cancelTask(cancel(task.id)));
});

check('a canceled task may be canceled again', async (site) => {
  const client = await site.client();
  const task = await client.sendMessage(request('ask'));
  const canceled = await client.cancelTask(cancel(task.id));
  assert.deepEqual(await client.cancelTask(cancel(task.id)), canceled);
});

check('unsupported operation on an ended task', async (site) => {
  const client = await site.client();
  const task = await client.sendMessage(request('echo x'));
  await refused(UnsupportedOperationError, () => collect(client.resubscribeTask(subscribe(task.id))));
  for (const send of sends(client)) await refused(UnsupportedOperationError, () => send(request('again', { task })));
});

// -- what the agent does not offer

check('unsupported operation without streams', async (site) => {
  const edit = (card) => Object.assign(card.capabilities, { streaming: true });
  const client = await site.client('plain', { edit });
  await refused(UnsupportedOperationError, () => collect(client.sendMessageStream(request('slow 1'))));
  const task = await client.sendMessage(request('ask'));
  await refused(UnsupportedOperationError, () => collect(client.resubscribeTask(subscribe(task.id))));
});

check('unsupported operation without extended card', async (site) => {
  const edit = (card) => Object.assign(card.capabilities, { extendedAgentCard: true });
  const client = await site.client('plain', { edit });
  await refused(UnsupportedOperationError, () => client.getAgentCard());
});

check('extended agent card not configured', async (site) => {
  const client = await site.client('strict');
  await refused(ExtendedAgentCardNotConfiguredError, () => client.getAgentCard());
});

check('push notification not supported', async (site) => {
  const edit = (card) => Object.assign(card.capabilities, { pushNotifications: true });
  const client = await site.client('plain', { edit });
  const { id: taskId } = await client.sendMessage(request('ask'));
  const config = { tenant: '', id: 'c1', taskId, url: 'https://e.example/hook', token: '', authentication: undefined };
  const named = { tenant: '', taskId, id: 'c1' };
  for (const call of [
    () => client.createTaskPushNotificationConfig(config),
    () => client.getTaskPushNotificationConfig(named),
    () => client.listTaskPushNotificationConfig({ tenant: '', taskId, pageSize: 0, pageToken: '' }),
    () => client.deleteTaskPushNotificationConfig(named),
    ...sends(client).map((send) => () => send(request('echo x', { taskPushNotificationConfig: config }))),
  ]) {
    await refused(PushNotificationNotSupportedError, call);
  }
});

check('extension support required', async (site) => {
  const client = await site.client('strict');
  for (const send of sends(client)) {
    const error = await refused(ExtensionSupportRequiredError, () => send(request('echo x')));
    assert.match(error.message, /ext\/a\/v1/);
    await refused(ExtensionSupportRequiredError, () => send(request('echo x'), extensions(OPTIONAL)));
    await send(request('echo x'), extensions(REQUIRED));
    await send(request('echo x'), extensions(OPTIONAL, REQUIRED));
  }
});

check('content type not supported', async (site) => {
  for (const send of sends(await site.client())) {
    const picture = part('raw', Buffer.from('x'), { mediaType: 'image/png' });
    const error = await refused(ContentTypeNotSupportedError, () => send(request(['copy', picture])));
    assert.match(error.message, /parts\[1\]/);
  }
});

// -- requests that are wrong

check('invalid params of a message', async (site) => {
  const client = await site.client();
  for (const [wrong, field] of [
    [request([]), /message\.parts/],
    [request(['x', part('none', '', { filename: 'empty.txt' })]), /message\.parts\[1\]/],
    [request('x', { historyLength: -1 }), /history_?[lL]ength/],
    [{ ...request('x'), message: undefined }, /message/],
  ]) {
    for (const send of sends(client)) {
      const error = await refused(RequestMalformedError, () => send(wrong));
      assert.match(error.message, field);
      if (site.jsonrpc) assert.equal(error.envelopeCode, -32602);
    }
  }
});

check('invalid params of a foreign context', async (site) => {
  const client = await site.client();
  const { id } = await client.sendMessage(request('ask'));
  const error = await refused(RequestMalformedError, () =>
    client.sendMessage(request('blue', { task: { id, contextId: 'another' } })),
  );
  assert.match(error.message, /context/);
});

check('invalid params of a list', async (site) => {
  const client = await site.client();
  for (const [wrong, field] of [
    [{ pageSize: 0 }, /page_?[sS]ize/],
    [{ pageSize: 101 }, /page_?[sS]ize/],
    [{ pageToken: 'made up' }, /page_?[tT]oken/],
    [{ historyLength: -1 }, /history_?[lL]ength/],
    [{ status: TaskState.UNRECOGNIZED }, /status/],
    ...(site.grpc ? [] : [[{ statusTimestampAfter: 'yesterday' }, /status_?[tT]imestamp/]]), // not in a message
  ]) {
    const error = await refused(RequestMalformedError, () => client.listTasks(list(wrong)));
    assert.match(error.message, field);
  }
});

check('invalid params of get', async (site) => {
  const client = await site.client();
  const { id } = await client.sendMessage(request('echo x'));
  const error = await refused(RequestMalformedError, () => client.getTask(get(id, -1)));
  assert.match(error.message, /history_?[lL]ength/);
});

check('invalid params of numbers that nothing can hold', async (site) => {
  if (site.grpc) return; // its requests cannot be rewritten
  const client = await site.client('main', { rewrite: (body) => body.replace('4711', '1e400') });
  const error = await refused(RequestMalformedError, () =>
    client.sendMessage(request(['copy', part('data', { n: 4711 })])),
  );
  assert.match(error.message, /message\.parts\[1\]/);
});

check('version not supported', async (site) => {
  const speaking = (version) => {
    const before = async ({ options }) => Object.assign(options.serviceParameters, { 'A2A-Version': version });
    return site.client('main', { config: { interceptors: [{ before, after: async () => {} }] } });
  };
  for (const version of ['9.9', '1.1', '0.2', 'text']) {
    const client = await speaking(version);
    const error = await refused(VersionNotSupportedError, () => client.getTask(get(UNKNOWN)));
    assert.match(error.message, /1\.0/);
    for (const send of sends(client)) await refused(VersionNotSupportedError, () => send(request('echo x')));
  }
  for (const version of ['1.0', '1.0.7', '1']) {
    for (const send of sends(await speaking(version))) await send(request('echo x'));
  }
});

check('parse error', async (site) => {
  if (site.grpc) return; // its requests cannot be rewritten
  // The SDK's table for HTTP+JSON has no such reason.
  for (const rewrite of [(body) => body.slice(0, -1), (body) => body.replace('4711', 'NaN')]) {
    const client = await site.client('main', { rewrite });
    const call = () => client.sendMessage(request(['copy', part('data', { n: 4711 })]));
    const error = await refusedWith(site, { code: -32700, http: 400 }, call);
    if (site.jsonrpc) assert(error instanceof RequestMalformedError);
  }
});

check('invalid request', async (site) => {
  if (!site.jsonrpc) return; // the others have no envelope that could be wrong
  for (const [wrong, code] of [
    [{ jsonrpc: '1.0' }, -32600],
    [{ id: { no: 'id' } }, -32600],
    [{ method: 7 }, -32600],
    [{ params: 'text' }, -32602],
  ]) {
    const rewrite = (body) => JSON.stringify({ ...JSON.parse(body), ...wrong });
    const client = await site.client('main', { rewrite });
    const error = await refused(RequestMalformedError, () => client.getTask(get(UNKNOWN)));
    assert.equal(error.envelopeCode, code);
  }
});

check('a body that is too large', async (site) => {
  const client = await site.client();
  const call = () => client.sendMessage(request('echo ' + 'x'.repeat(11_000_000)));
  await refusedWith(site, { code: -32600, http: 413, grpc: status.RESOURCE_EXHAUSTED }, call);
});

check('method not found', async (site) => {
  if (site.grpc) return; // the SDK has no call of a method that it does not know
  if (site.jsonrpc) {
    const client = await site.client();
    const call = () => client.transport.callExtensionMethod('GetTusk', { id: UNKNOWN });
    const error = await refused(RequestMalformedError, call);
    assert.equal(error.envelopeCode, -32601);
    return;
  }
  const edit = (card) => card.supportedInterfaces.forEach((one) => (one.url += '/nothing/is/here'));
  const client = await site.client('main', { edit });
  const error = await refused(A2AError, () => client.getTask(get(UNKNOWN)));
  assert.equal(error.statusCode, 404);
  assert(!(error instanceof TaskNotFoundError));
});

// -- who calls

check('unauthenticated', async (site) => {
  for (const user of [null, 'mallory']) {
    const client = await site.client('main', { user });
    for (const call of [
      () => client.getTask(get(UNKNOWN)),
      () => client.getAgentCard(),
      () => collect(client.resubscribeTask(subscribe(UNKNOWN))),
      ...sends(client).map((send) => () => send(request('echo x'))),
    ]) {
      const error = await refusedWith(site, { code: -31401, http: 401, grpc: status.UNAUTHENTICATED }, call);
      if (!site.jsonrpc && !site.grpc) assert.match(error.headers['www-authenticate'], /^Bearer\b/);
    }
  }
});

check('forbidden', async (site) => {
  const client = await site.client('several', { tenant: 'staff' });
  const known = { code: -31403, http: 403, grpc: status.PERMISSION_DENIED };
  await refusedWith(site, known, () => client.getTask(get(UNKNOWN)));
  for (const send of sends(client)) {
    await refusedWith(site, known, () => send(request('hello')));
  }
});

// -- what the agent does wrong

check('invalid agent response', async (site) => {
  for (const send of sends(await site.client('several', { tenant: 'faulty' }))) {
    await refused(InvalidAgentResponseError, () => send(request('wrong')));
  }
});

check('internal error', async (site) => {
  const internal = { code: -32603, http: 500, grpc: status.INTERNAL };
  for (const send of sends(await site.client('several', { tenant: 'faulty' }))) {
    const error = await refusedWith(site, internal, () => send(request('crash')));
    assert(!JSON.stringify([error, error.message]).includes('secret'));
  }
});

check('a task whose agent is faulty has failed', async (site) => {
  const client = await site.client();
  for (const text of ['boom 2', 'noparts', 'msgafter']) {
    const task = await client.sendMessage(request(text));
    assert.equal(stateOf(task), 'FAILED');
    assert(task.status.message.parts.length);
    assert(!JSON.stringify(task).includes('secret'));
  }
});
