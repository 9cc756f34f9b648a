// Follows a task with an EventSource, as a page in a browser does, and prints what it saw when it was told to stay away.

import { EventSource } from 'eventsource';

const [url] = process.argv.slice(2);
const seen = [];
let opened = 0;
setInterval(() => {}, 1000); // node would end while nothing but the pause before the next attempt is left

const source = new EventSource(url);
source.addEventListener('open', () => (opened += 1));
source.addEventListener('task_update', (event) => seen.push({ id: event.lastEventId, data: JSON.parse(event.data) }));
source.addEventListener('error', (event) => {
  if (source.readyState !== EventSource.CLOSED) return; // it comes back by itself
  console.log(JSON.stringify({ seen, opened, code: event.code ?? null }));
  process.exit(0);
});
