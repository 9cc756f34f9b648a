// Runs every check over one binding and prints one line of JSON for each: {"name", "passed", "error"}.
// Reads {"binding", "urls", "targets", "keys"} from standard input.

import { readFileSync } from 'node:fs';

import { checks } from './checks.mjs';
import { Site } from './sdk.mjs';
import './card.checks.mjs';
import './calls.checks.mjs';
import './streams.checks.mjs';
import './errors.checks.mjs';
import './tenants.checks.mjs';
import './push.checks.mjs';

const SECONDS = 30;

const site = new Site(JSON.parse(readFileSync(0, 'utf8')));

function limited(promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end after ${SECONDS} s`)), SECONDS * 1000);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

for (const [name, check] of checks) {
  let error = null;
  try {
    await limited(check(site));
  } catch (caught) {
    error = caught?.stack ?? String(caught);
    if (caught?.cause) error += `\ncaused by ${caught.cause.stack ?? caught.cause}`;
  }
  console.log(JSON.stringify({ name, passed: error === null, error }));
}
process.exit(0);
