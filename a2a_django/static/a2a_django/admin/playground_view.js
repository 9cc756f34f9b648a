// What the playground shows: bubbles of the conversation, and entries of what goes over the wire. Everything that comes
// from an agent is put in as text, never as HTML.
"use strict";
(() => {
  const LONGEST = 2000;
  const ENTRIES = 300;
  const CHARACTERS = 100000;
  // What cannot be seen in JSON, or turns the text around it.
  const UNSEEN = /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

  const make = (name, className, text) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  const fill = (words, ...values) => values.reduce((text, value) => text.replace("%s", () => value), words);

  const cut = (text, limit, words) =>
    text.length <= limit ? text : `${text.slice(0, limit)}… ${fill(words.cut, text.length - limit)}`;

  // JSON for people; long texts in it are cut.
  const pretty = (value, words) =>
    JSON.stringify(value, (_name, inner) => (typeof inner === "string" ? cut(inner, LONGEST, words) : inner), 2).replace(
      UNSEEN,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );

  const parsed = (text) => {
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  };

  // The list of what went over the wire.
  class Wire {
    constructor(list, dropped, words) {
      Object.assign(this, { list, dropped, words, lost: 0, began: performance.now() });
    }

    begin() {
      this.began = performance.now();
    }

    // `text` or `value` is the content; `open` shows it at once.
    add(direction, title, { text, value, open = false, bad = false } = {}) {
      const entry = make("li", `a2a-entry a2a-${direction}${bad ? " a2a-bad" : ""}`);
      const head = make("span", "a2a-entry-title", `${direction === "out" ? "→" : "←"} ${title}`);
      const time = make("span", "help a2a-entry-time", `+${Math.round(performance.now() - this.began)} ms`);
      const found = value === undefined && text !== undefined ? parsed(text) : value;
      const content = found === undefined ? text : pretty(found, this.words);
      if (content) {
        const details = make("details");
        details.open = open;
        const summary = make("summary");
        summary.append(head, " ", time);
        const pre = make("pre", "", cut(content, CHARACTERS, this.words));
        pre.dir = "ltr";
        details.append(summary, pre);
        entry.append(details);
      } else {
        entry.append(head, " ", time);
      }
      const atEnd = this.list.scrollHeight - this.list.scrollTop - this.list.clientHeight < 40;
      this.list.append(entry);
      while (this.list.children.length > ENTRIES) {
        this.list.firstElementChild.remove();
        this.lost += 1;
        this.dropped.textContent = fill(this.words.dropped, this.lost);
      }
      if (atEnd) this.list.scrollTop = this.list.scrollHeight;
    }

    clear() {
      this.list.replaceChildren();
      this.lost = 0;
      this.dropped.textContent = "";
    }
  }

  const bytesOf = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

  // The conversation.
  class Talk {
    constructor(log, words) {
      Object.assign(this, { log, words, artifacts: new Map() });
    }

    bubble(who, kind, label) {
      const made = make("div", `a2a-bubble a2a-${kind}`);
      made.append(make("div", "a2a-who", label ? `${who}: ${label}` : who));
      this.log.append(made);
      return made;
    }

    message(who, kind, found) {
      const made = this.bubble(who, kind);
      (found.parts || []).forEach((part) => this.part(made, part));
      this.scroll();
      return made;
    }

    // One piece of an artifact: `append` says whether it goes on with what is there.
    artifact(found, append) {
      const id = found.artifactId || "";
      let body = this.artifacts.get(id);
      if (!body) {
        const label = found.name && found.name !== id ? found.name : "";
        body = make("div");
        this.bubble(this.words.artifact, "artifact", label).append(body);
        this.artifacts.set(id, body);
      } else if (!append) {
        body.replaceChildren();
      }
      (found.parts || []).forEach((part) => this.part(body, part));
      this.scroll();
    }

    part(place, part) {
      if (typeof part.text === "string") {
        const last = place.lastElementChild;
        if (last && last.classList.contains("a2a-text")) last.append(part.text);
        else {
          const made = make("div", "a2a-text", part.text);
          made.dir = "auto";
          place.append(made);
        }
      } else if ("data" in part) {
        const made = make("pre", "a2a-data", pretty(part.data, this.words));
        made.dir = "ltr";
        place.append(made);
      } else if (typeof part.raw === "string") {
        place.append(this.file(part));
      } else if (typeof part.url === "string") {
        place.append(this.link(part));
      }
    }

    file(part) {
      const line = make("div", "a2a-file");
      const name = make("bdi", "", part.filename || this.words.file);
      const size = Math.max(0, Math.floor((part.raw.length * 3) / 4));
      line.append(name, make("span", "help", ` ${part.mediaType || ""} ${size} B `));
      const button = make("button", "button", this.words.download);
      button.type = "button";
      button.addEventListener("click", () => {
        // Under a type that no browser shows, whatever the agent says it is.
        const address = URL.createObjectURL(new Blob([bytesOf(part.raw)], { type: "application/octet-stream" }));
        const anchor = make("a");
        anchor.href = address;
        anchor.download = part.filename || "file";
        anchor.click();
        window.setTimeout(() => URL.revokeObjectURL(address), 1000);
      });
      line.append(button);
      return line;
    }

    link(part) {
      const line = make("div", "a2a-file");
      line.append(`${this.words.link}: `);
      if (/^https?:\/\//i.test(part.url)) {
        const anchor = make("a", "", part.url);
        anchor.href = part.url;
        anchor.rel = "noopener noreferrer nofollow";
        anchor.target = "_blank";
        line.append(anchor);
      } else {
        line.append(make("code", "", part.url));
      }
      return line;
    }

    note(text, bad) {
      this.log.append(make("div", `a2a-note${bad ? " a2a-bad" : ""}`, text));
      this.scroll();
    }

    // Artifacts belong to a task: those of the next one are others.
    forgetArtifacts() {
      this.artifacts.clear();
    }

    clear() {
      this.log.replaceChildren();
      this.artifacts.clear();
    }

    scroll() {
      this.log.scrollTop = this.log.scrollHeight;
    }
  }

  Object.assign(window.A2APlayground, { Talk, Wire, make, fill, parsed });
})();
