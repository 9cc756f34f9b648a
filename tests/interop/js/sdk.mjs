// The SDK's own client, made the way its documentation says, and what the checks need around it.

import { randomUUID } from 'node:crypto';

import { Role, TaskState } from '@a2a-js/sdk';
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
  ServiceParameters,
  createAuthenticatingFetchWithRetry,
  withA2AExtensions,
} from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';

export class Site {
  constructor({ binding, urls, targets, keys }) {
    this.binding = binding;
    this.urls = urls;
    this.targets = targets; // of gRPC
    this.keys = keys;
    this.jsonrpc = binding === 'JSONRPC';
    this.grpc = binding === 'GRPC';
  }

  /**
   * Make a client of one variant of the site.
   *
   * `user`: whose key it sends (another name is a key that nobody has; null: no key). `tenant`: the agent whose card it
   * goes by. `edit`: changes that card, for calls that a client with the true card would not make. `rewrite`: changes
   * the text of every request body. `handler`: how it authenticates, instead of `user`. `config`: the client's config.
   * Over gRPC there is neither `rewrite` nor `handler`.
   */
  async client(variant = 'main', { user = 'alice', tenant, edit, rewrite, handler, config } = {}) {
    if (this.grpc && (rewrite || handler)) throw new Error('only over HTTP');
    let fetchImpl = rewrite ? rewriting(rewrite) : fetch;
    const key = user ? (this.keys[user] ?? user) : undefined;
    const auth = handler ?? (key ? bearer(key) : undefined);
    if (auth) fetchImpl = createAuthenticatingFetchWithRetry(fetchImpl, auth);
    const factory = new ClientFactory({
      transports: [
        new JsonRpcTransportFactory({ fetchImpl }),
        new RestTransportFactory({ fetchImpl }),
        new GrpcTransportFactory(),
      ],
      preferredTransports: [this.binding],
      clientConfig: this.grpc && key ? withKey(key, config) : config,
    });
    const path = tenant ? `/a2a/${tenant}/.well-known/agent-card.json` : undefined;
    if (!edit) return factory.createFromUrl(this.urls[variant], path);
    const card = structuredClone(await this.card(variant));
    edit(card);
    return factory.createFromAgentCard(card);
  }

  card(variant = 'main', path = undefined) {
    return new DefaultAgentCardResolver().resolve(this.urls[variant], path);
  }
}

function bearer(key) {
  return {
    headers: async () => ({ Authorization: `Bearer ${key}` }),
    shouldRetryWithHeaders: async () => undefined,
  };
}

/** The client's config with an interceptor that sends the key as metadata. */
function withKey(key, config) {
  const before = async (args) => {
    const serviceParameters = { ...args.options?.serviceParameters, Authorization: `Bearer ${key}` };
    args.options = { ...args.options, serviceParameters };
  };
  return { ...config, interceptors: [...(config?.interceptors ?? []), { before, after: async () => {} }] };
}

function rewriting(rewrite) {
  return (url, init) => fetch(url, init?.body ? { ...init, body: rewrite(init.body) } : init);
}

export const extensions = (...uris) => ({ serviceParameters: ServiceParameters.create(withA2AExtensions(...uris)) });

// -- requests

export function part($case, value, { mediaType = '', filename = '', metadata = undefined } = {}) {
  return { content: { $case, value }, mediaType, filename, metadata };
}

/** A message of the user: a text part for each string, other parts as they are; `task` is what it goes on with. */
export function request(parts, { task, ...configuration } = {}) {
  return {
    tenant: '',
    metadata: undefined,
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      returnImmediately: false,
      ...configuration,
    },
    message: {
      messageId: randomUUID(),
      contextId: task?.contextId ?? '',
      taskId: task?.id ?? '',
      role: Role.ROLE_USER,
      parts: [parts].flat().map((one) => (typeof one === 'string' ? part('text', one) : one)),
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
  };
}

export const get = (id, historyLength = undefined) => ({ tenant: '', id, historyLength });

export const cancel = (id) => ({ tenant: '', id, metadata: undefined });

export const subscribe = (id) => ({ tenant: '', id });

export function list(filters) {
  return {
    tenant: '',
    contextId: '',
    status: TaskState.TASK_STATE_UNSPECIFIED,
    pageToken: '',
    statusTimestampAfter: undefined,
    ...filters,
  };
}

// -- answers

export const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export async function collect(stream) {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** Read the first events of a stream and leave it open. */
export async function some(stream, count) {
  const events = [];
  while (events.length < count) {
    const { done, value } = await stream.next();
    if (done) throw new Error(`the stream ended after ${events.length} events`);
    events.push(value);
  }
  return events;
}

export const stateOf = (task) => TaskState[task.status.state].replace('TASK_STATE_', '');

export const texts = (holder) => holder.parts.map((one) => one.content.value);

export const kinds = (events) => events.map((event) => event.payload.$case);

/** The states that the events show. */
export const states = (events) =>
  events.filter((event) => event.payload.value.status).map((event) => stateOf(event.payload.value));

/** The texts of the artifact updates. */
export const updates = (events) =>
  events
    .filter((event) => event.payload.$case === 'artifactUpdate')
    .flatMap((event) => texts(event.payload.value.artifact));

/** The task that a client knows after the events. */
export function replay(events) {
  let task = { artifacts: [] };
  for (const { payload } of structuredClone(events)) {
    if (payload.$case === 'task') task = payload.value;
    if (payload.$case === 'statusUpdate') task.status = payload.value.status;
    if (payload.$case === 'artifactUpdate') {
      const { artifact, append } = payload.value;
      const at = task.artifacts.findIndex((one) => one.artifactId === artifact.artifactId);
      if (at < 0) task.artifacts.push(artifact);
      else if (append) task.artifacts[at].parts.push(...artifact.parts);
      else task.artifacts[at] = artifact;
    }
  }
  return task;
}
