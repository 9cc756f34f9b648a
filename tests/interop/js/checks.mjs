// The checks by name, and what they ask.

import assert from 'node:assert/strict';

export const checks = new Map();

/** Register a check; test_javascript.py finds its name in the source, so write it as a literal at a line's start. */
export function check(name, run) {
  assert(!checks.has(name), `two checks are called ${name}`);
  checks.set(name, run);
}

/** Wait for the error of a call, which has to be of the class; return it for a closer look. */
export async function refused(kind, call) {
  let answer;
  try {
    answer = await call();
  } catch (error) {
    assert(error instanceof kind, `expected ${kind.name}, got ${error?.name}: ${error?.stack}`);
    return error;
  }
  assert.fail(`expected ${kind.name}, got an answer: ${JSON.stringify(answer)}`);
}
