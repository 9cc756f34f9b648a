// The client finds the agent by its card.

import assert from 'node:assert/strict';

import { verifyAgentCardSignature } from '@a2a-js/sdk';
import { A2AError } from '@a2a-js/sdk/errors';
import { ClientFactory } from '@a2a-js/sdk/client';

import { check, refused } from './checks.mjs';
import { collect, replay, request, stateOf, states, texts } from './sdk.mjs';

check('the resolver reads the whole card', async (site) => {
  const card = await site.card();
  assert.equal(card.name, 'Scripted agent');
  assert.equal(card.version, '1.0');
  assert(card.description);
  assert.deepEqual(
    card.supportedInterfaces.map((one) => [one.protocolBinding, one.protocolVersion, one.tenant]),
    [['JSONRPC', '1.0', ''], ['HTTP+JSON', '1.0', ''], ['GRPC', '1.0', '']],
  );
  const [grpc, ...http] = card.supportedInterfaces.toReversed();
  assert(http.every((one) => one.url.startsWith(site.urls.main)));
  assert.equal(grpc.url, site.targets.main);
  const { streaming, pushNotifications, extendedAgentCard } = card.capabilities;
  assert.deepEqual([streaming, pushNotifications, extendedAgentCard], [true, true, true]);
  assert.deepEqual(card.defaultInputModes, ['text/plain', 'application/json']);
  assert.deepEqual(card.defaultOutputModes, ['text/plain', 'application/json']);
  assert.deepEqual(card.skills.map((skill) => [skill.id, skill.tags]), [['script', ['test']]]);
  const { scheme } = card.securitySchemes.bearer;
  assert.equal(scheme.$case, 'httpAuthSecurityScheme');
  assert.equal(scheme.value.scheme, 'Bearer');
  assert.deepEqual(Object.keys(card.securityRequirements[0].schemes), ['bearer']);
});

check('the resolver reads extensions', async (site) => {
  const card = await site.card('strict');
  assert.deepEqual(
    card.capabilities.extensions.map((one) => [one.uri, one.required]),
    [['https://e.example/ext/a/v1', true], ['https://e.example/ext/b/v1', false]],
  );
});

check('the signature is good', async (site) => {
  // As it was sent: the verifier forgets the security schemes of a card that the resolver has read.
  const card = await (await fetch(`${site.urls.main}/.well-known/agent-card.json`)).json();
  const retrieve = async (kid, jku) => {
    const { keys } = await (await fetch(jku)).json();
    const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
    return crypto.subtle.importKey('jwk', keys.find((key) => key.kid === kid), algorithm, false, ['verify']);
  };
  console.debug = console.error; // the verifier tells of signatures that are not good, where the results stand
  await verifyAgentCardSignature(retrieve)(card);
  await refused(Error, () => verifyAgentCardSignature(retrieve)({ ...card, name: 'Another agent' }));
});

check('a card that is not there is an error', async (site) => {
  const error = await refused(Error, () => site.card('main', '/no-card-here.json'));
  assert.match(error.message, /404/);
});

check('one address is enough to make a client', async (site) => {
  const client = await new ClientFactory().createFromUrl(site.urls.main);
  assert.equal(client.transport.protocolName, 'JSONRPC'); // the first of the card
  assert.equal((await site.client()).transport.protocolName, site.binding);
  assert.equal(client.protocolVersion, '1.0');
  await refused(A2AError, () => client.sendMessage(request('echo hello')));
});

check('the extended card has more and serves on', async (site) => {
  const client = await site.client();
  const card = await client.getAgentCard();
  assert.deepEqual(card.skills.map((skill) => skill.id), ['script', 'extra']);
  assert.deepEqual(card.supportedInterfaces, (await site.card()).supportedInterfaces);
  assert.equal(stateOf(await client.sendMessage(request('echo hello'))), 'COMPLETED');
});

check('a card without extended card stays the card', async (site) => {
  const client = await site.client('plain');
  assert.deepEqual(await client.getAgentCard(), await site.card('plain'));
});

check('the client signs in when it is asked to', async (site) => {
  if (site.grpc) return; // there the SDK has no such thing
  let challenge = null;
  const handler = {
    headers: async () => ({}),
    shouldRetryWithHeaders: async (_, response) => {
      if (response.status !== 401) return undefined;
      challenge = response.headers.get('WWW-Authenticate');
      return { Authorization: `Bearer ${site.keys.alice}` };
    },
  };
  const client = await site.client('main', { handler });
  assert.equal(stateOf(await client.sendMessage(request('echo hello'))), 'COMPLETED');
  assert.match(challenge, /^Bearer\b/);
});

check('the example site talks to a client that knows nothing but its address', async (site) => {
  const client = await site.client('shop', { user: null });
  const order = await client.sendMessage(request('Where is order 1003?'));
  assert.equal(stateOf(order), 'COMPLETED');
  assert.match(texts(order.artifacts[0])[0], /1003/);
  const asked = await client.sendMessage(request('Where is my order?'));
  assert.equal(stateOf(asked), 'INPUT_REQUIRED');
  assert.equal(stateOf(await client.sendMessage(request('1003', { task: asked }))), 'COMPLETED');
  const events = await collect(client.sendMessageStream(request('Please do a stocktake')));
  assert.equal(states(events).at(-1), 'COMPLETED');
  assert(texts(replay(events).artifacts[0]).every((text) => text.includes('in stock')));
});
