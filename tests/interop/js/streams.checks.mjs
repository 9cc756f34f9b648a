// Streams: to their end, dropped in the middle, taken up again.

import assert from 'node:assert/strict';

import { UnsupportedOperationError } from '@a2a-js/sdk/errors';
import { status } from '@grpc/grpc-js';

import { check } from './checks.mjs';
import {
  cancel,
  collect,
  get,
  kinds,
  replay,
  request,
  sleep,
  some,
  stateOf,
  states,
  subscribe,
  texts,
  updates,
} from './sdk.mjs';

const TICKS = 12;
/** Long enough that a slow machine, too, subscribes before the end. */
const LONG = 20;
const ticks = (count) => [...Array(count).keys()].map((i) => `tick-${i}`);

check('a stream tells everything in order', async (site) => {
  const client = await site.client();
  const events = await collect(client.sendMessageStream(request('slow 4')));
  assert.equal(kinds(events)[0], 'task');
  assert.equal(states(events).at(-1), 'COMPLETED');
  assert(states(events).includes('WORKING'));
  assert.deepEqual(updates(events), ticks(4));
  const chunks = events.map((event) => event.payload).filter(({ $case }) => $case === 'artifactUpdate');
  assert.deepEqual(chunks.map(({ value }) => value.append), [false, true, true, true]);
  assert.deepEqual(chunks.map(({ value }) => value.lastChunk), [false, false, false, true]);
  const { id, contextId } = events[0].payload.value;
  assert(chunks.every(({ value }) => value.taskId === id && value.contextId === contextId));
  assert.deepEqual(replay(events).artifacts, (await client.getTask(get(id))).artifacts);
});

check('a burst of many chunks', async (site) => {
  const client = await site.client();
  const events = await collect(client.sendMessageStream(request('burst 500 200')));
  assert.deepEqual(updates(events).map((text) => text.replace(/\.+$/, '')), ticks(500));
  assert.equal(states(events).at(-1), 'COMPLETED');
});

check('a stream of one message', async (site) => {
  const events = await collect((await site.client()).sendMessageStream(request('direct hello')));
  assert.deepEqual(kinds(events), ['message']);
  assert.deepEqual(texts(events[0].payload.value), ['hello']);
});

check('a question ends the stream and the answer gets one of its own', async (site) => {
  const client = await site.client();
  const asked = await collect(client.sendMessageStream(request('ask')));
  assert.equal(states(asked).at(-1), 'INPUT_REQUIRED');
  const task = replay(asked);
  assert.deepEqual(texts(task.status.message), ['which colour?']);
  const answered = await collect(client.sendMessageStream(request('blue', { task })));
  assert.equal(kinds(answered)[0], 'task');
  assert.equal(answered[0].payload.value.id, task.id);
  assert.equal(states(answered).at(-1), 'COMPLETED');
  assert.deepEqual(texts(replay(answered).artifacts[0]), ['blue']);
});

check('an authorisation keeps the stream open', async (site) => {
  const events = await collect((await site.client()).sendMessageStream(request('auth')));
  const seen = states(events);
  assert(seen.includes('AUTH_REQUIRED'));
  assert.equal(seen.at(-1), 'COMPLETED');
  assert.deepEqual(updates(events), ['authorised']);
});

check('nothing is lost when a dropped stream is taken up again', async (site) => {
  const client = await site.client();
  const broken = new AbortController();
  const stream = client.sendMessageStream(request(`slow ${LONG}`), { signal: broken.signal });
  const known = replay(await some(stream, 5));
  assert(known.artifacts[0].parts.length > 0 && known.artifacts[0].parts.length < LONG);
  broken.abort();
  await assert.rejects(stream.next(), site.grpc ? { status: status.CANCELLED } : { name: 'AbortError' });
  await sleep(500); // the agent goes on; what it says now is said to nobody
  const after = await collect(client.resubscribeTask(subscribe(known.id)));
  assert.equal(kinds(after)[0], 'task');
  const snapshot = texts(after[0].payload.value.artifacts[0]);
  assert(known.artifacts[0].parts.length < snapshot.length && snapshot.length < LONG);
  assert.deepEqual([...snapshot, ...updates(after)], ticks(LONG));
  assert.equal(states(after).at(-1), 'COMPLETED');
  assert.deepEqual(replay(after).artifacts, (await client.getTask(get(known.id))).artifacts);
});

check('a client that always loses its stream gets to the end', async (site) => {
  const client = await site.client();
  const stream = client.sendMessageStream(request(`slow ${TICKS}`));
  let task = replay(await some(stream, 2));
  await stream.return(); // how `for await` leaves a stream with `break`
  const seen = [];
  for (let round = 0; round < 3 * TICKS; round += 1) {
    try {
      const again = client.resubscribeTask(subscribe(task.id));
      const events = await some(again, 2);
      await again.return();
      task = replay(events);
      seen.push(...states(events));
    } catch (error) {
      if (!(error instanceof UnsupportedOperationError)) throw error;
      task = await client.getTask(get(task.id)); // it has ended: it is not subscribed to any more but read
      break;
    }
    assert.deepEqual(texts(task.artifacts[0]), ticks(task.artifacts[0].parts.length));
  }
  assert(seen.slice(0, -1).every((state) => state === 'WORKING'), seen.join());
  assert.equal(stateOf(task), 'COMPLETED');
  assert.deepEqual(texts(task.artifacts[0]), ticks(TICKS));
});

check('two subscribers see the same', async (site) => {
  const client = await site.client();
  const { id } = await client.sendMessage(request('slow 5', { returnImmediately: true }));
  const seen = await Promise.all([1, 2].map(() => collect(client.resubscribeTask(subscribe(id)))));
  for (const events of seen) {
    assert.deepEqual(texts(replay(events).artifacts[0]), ticks(5));
    assert.equal(states(events).at(-1), 'COMPLETED');
  }
});

check('a cancel ends the stream', async (site) => {
  const client = await site.client();
  const stream = client.sendMessageStream(request('quiet 60'));
  const begin = await some(stream, 1);
  const { id } = begin[0].payload.value;
  await client.cancelTask(cancel(id));
  assert.equal(states([...begin, ...(await collect(stream))]).at(-1), 'CANCELED');
  assert.equal(stateOf(await client.getTask(get(id))), 'CANCELED');
});

check('a subscriber stays through a question', async (site) => {
  const client = await site.client();
  const task = await client.sendMessage(request('ask'));
  const stream = client.resubscribeTask(subscribe(task.id));
  const [first] = await some(stream, 1);
  assert.equal(stateOf(first.payload.value), 'INPUT_REQUIRED');
  await client.sendMessage(request('blue', { task }));
  const events = [first, ...(await collect(stream))];
  assert.equal(states(events).at(-1), 'COMPLETED');
  assert.deepEqual(texts(replay(events).artifacts[0]), ['blue']);
});

check('a client streams only if the card says so', async (site) => {
  const events = await collect((await site.client('plain')).sendMessageStream(request('slow 1')));
  assert.deepEqual(kinds(events), ['task']);
  assert.deepEqual(states(events), ['COMPLETED']);
});
