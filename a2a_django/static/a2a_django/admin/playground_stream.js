// Calls, and event streams read as they come. EventSource cannot POST, so the stream is read from the answer's body.
// Knows nothing of the page.
"use strict";
(() => {
  // The frames in the text of an event stream: {id, event, data}; {comment} for what keeps it alive.
  class Frames {
    constructor() {
      this.rest = "";
    }

    take(text) {
      const blocks = (this.rest + text).split("\n\n");
      this.rest = blocks.pop();
      return blocks.map((block) => {
        const frame = { data: "" };
        const data = [];
        for (const line of block.split("\n")) {
          if (line.startsWith(":")) {
            frame.comment = line.slice(1).trim();
            continue;
          }
          const colon = line.indexOf(":");
          const name = colon < 0 ? line : line.slice(0, colon);
          const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
          if (name === "data") data.push(value);
          else if (name === "id" || name === "event") frame[name] = value;
        }
        frame.data = data.join("\n");
        return frame;
      });
    }
  }

  // Make a call. `told` is asked with what happens: response(status, headers), frame(frame), body(text).
  const call = async (request, { headers, signal, told }) => {
    const answer = await fetch(request.url, {
      method: request.verb,
      headers: { ...request.headers, ...headers },
      body: request.body === undefined ? undefined : JSON.stringify(request.body),
      credentials: "same-origin",
      signal,
    });
    const type = answer.headers.get("Content-Type") || "";
    told.response(answer.status, type);
    if (!type.startsWith("text/event-stream")) {
      told.body(await answer.text(), answer.status);
      return;
    }
    const frames = new Frames();
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      frames.take(value).forEach((frame) => told.frame(frame));
    }
  };

  Object.assign(window.A2APlayground, { call, Frames });
})();
