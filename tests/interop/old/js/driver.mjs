// The JavaScript SDK's client of version 0.3, driven from outside in the way that python/driver.py describes.

import { createInterface } from 'node:readline';

import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
  createAuthenticatingFetchWithRetry,
} from '@a2a-js/sdk/client';

const SECONDS = 30;

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

let site;
let made;

/** The client, made of the card that it finds for itself. */
function client() {
  const fetchImpl = createAuthenticatingFetchWithRetry(fetch, {
    headers: async () => ({ Authorization: `Bearer ${site.key}` }),
    shouldRetryWithHeaders: async () => undefined,
  });
  made ??= new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
    preferredTransports: [site.binding],
  }).createFromUrl(site.url, site.path ?? undefined);
  return made;
}

const calls = {
  card: () => new DefaultAgentCardResolver().resolve(site.url, site.path ?? undefined),
  extended_card: async () => (await client()).getAgentCard(),
  send: async (params) => (await client()).sendMessage(params),
  stream: async (params) => (await client()).sendMessageStream(params),
  get: async (params) => (await client()).getTask(params),
  cancel: async (params) => (await client()).cancelTask(params),
  resubscribe: async (params) => (await client()).resubscribeTask(params),
  push_set: async (params) => (await client()).setTaskPushNotificationConfig(params),
  push_get: async (params) => (await client()).getTaskPushNotificationConfig(params),
  push_list: async (params) => (await client()).listTaskPushNotificationConfig(params),
  push_delete: async (params) => (await client()).deleteTaskPushNotificationConfig(params),
};

async function carryOut({ id, call, arguments: params }) {
  const answer = await calls[call](params);
  if (answer?.[Symbol.asyncIterator]) {
    for await (const event of answer) say({ id, event });
    say({ id, result: null });
  } else {
    say({ id, result: answer ?? null });
  }
}

function limited(promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end after ${SECONDS} s`)), SECONDS * 1000);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const order = JSON.parse(line);
    if (site === undefined) {
      site = order;
      return;
    }
    limited(carryOut(order)).catch((error) => say({ id: order.id, error: `${error.name}: ${error.message}` }));
  })
  .on('close', () => process.exit(0));
