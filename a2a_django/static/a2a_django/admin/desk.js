// The operator's desk: what its pages do besides being pages. Without this script they still work.
"use strict";

{
  // Milliseconds between two looks at a task where nobody rings, and the longest pause after failures.
  const LOOK = 3000;
  const LONGEST = 30000;
  // Things on a timeline that is growing; what is older is on its own page.
  const MOST = 1000;
  // Characters of JSON that are shown on a page.
  const ROOM = 200000;

  /** Keep the page of a task as the task is. */
  class Follower {
    constructor(page) {
      this.page = page;
      this.seq = Number(page.dataset.seq);
      this.position = Number(page.dataset.position);
      this.state = page.dataset.state;
      this.list = page.querySelector(".a2a-timeline");
      this.busy = false;
      this.again = false;
      this.over = false;
      this.failures = 0;
    }

    start() {
      const sign = this.page.querySelector(".a2a-following");
      if (sign) sign.hidden = false;
      if (this.page.dataset.live && window.EventSource) this.listen();
      else this.later();
      document.addEventListener("visibilitychange", () => document.hidden || this.look());
      window.addEventListener("pagehide", () => this.source && this.source.close());
    }

    listen() {
      const source = new EventSource(`${this.page.dataset.live}?after=${this.seq}`);
      this.source = source;
      source.onmessage = () => this.look();
      source.onerror = () => {
        // Closed for good: the server has too many streams, or does not know us any more. Otherwise the browser tries.
        if (source.readyState === EventSource.CLOSED && !this.over) this.later();
      };
    }

    later() {
      if (this.over) return;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.look(true), Math.min(LOOK * 2 ** this.failures, LONGEST));
    }

    /** Fetch what is new; one fetch at a time. */
    async look(repeat = false) {
      if (this.over) return;
      if (this.busy) {
        this.again = true;
        return;
      }
      this.busy = true;
      try {
        do {
          this.again = false;
          const answer = await fetch(`${this.page.dataset.news}?after=${this.seq}&position=${this.position}`, {
            headers: { Accept: "application/json" },
            credentials: "same-origin",
            redirect: "error",
          });
          if (!answer.ok) throw new Error(String(answer.status));
          this.show(await answer.json());
          this.failures = 0;
        } while (this.again && !this.over);
      } catch {
        this.failures = Math.min(this.failures + 1, 5);
        repeat = true;
      } finally {
        this.busy = false;
      }
      if (repeat) this.later();
    }

    show(news) {
      this.seq = news.seq;
      this.position = news.position;
      this.again = this.again || news.more;
      this.put(news.items);
      if (news.state !== this.state || news.over) {
        const head = this.page.querySelector(".a2a-head-content");
        if (head) head.innerHTML = news.head;
        // Nobody is to lose what they are writing.
        const place = this.page.querySelector(".a2a-question-place");
        const writes = [...place.querySelectorAll("textarea")].some((field) => field.value);
        if (!writes) place.innerHTML = news.question;
        this.state = news.state;
      }
      if (news.over) this.end();
    }

    /** Add things to the timeline. A chunk that continues the last one is put into it. */
    put(html) {
      const made = document.createElement("template");
      made.innerHTML = html;
      const items = [...made.content.children];
      const first = items[0];
      const last = this.list.lastElementChild;
      if (first && last && first.dataset.appended !== undefined && last.dataset.artifact === first.dataset.artifact) {
        this.join(last, first);
        items.shift();
      }
      this.list.append(...items);
      while (this.list.children.length > MOST) this.list.firstElementChild.remove();
    }

    join(last, more) {
      const into = last.querySelector(".a2a-parts");
      const parts = [...more.querySelector(".a2a-parts").children];
      const end = into.lastElementChild;
      if (end && parts.length && end.matches(".a2a-text") && parts[0].matches(".a2a-text")) {
        end.append(parts.shift().textContent);
      }
      into.append(...parts);
      const number = more.querySelector(".a2a-last");
      const old = last.querySelector(".a2a-last");
      if (number && old) old.textContent = number.textContent;
    }

    end() {
      this.over = true;
      clearTimeout(this.timer);
      if (this.source) this.source.close();
      const sign = this.page.querySelector(".a2a-following");
      if (sign) sign.hidden = true;
      this.page.dataset.over = "true";
    }
  }

  /** Fetch the JSON of a message or event when somebody wants to see it. */
  async function unfold(details) {
    const place = details.querySelector("pre");
    if (!details.open || place.textContent) return;
    try {
      const answer = await fetch(details.dataset.wire, { credentials: "same-origin" });
      if (!answer.ok) throw new Error(String(answer.status));
      const text = await answer.text();
      const shown = text.length > ROOM ? `${text.slice(0, ROOM)}…` : JSON.stringify(JSON.parse(text), null, 2);
      // As it travels: characters that cannot be seen, or that turn the text around them, are numbers.
      place.textContent = shown.replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
    } catch {
      details.open = false;
    }
  }

  document.addEventListener("DOMContentLoaded", () => {
    const page = document.querySelector("[data-a2a-task]");
    if (page && page.dataset.over === "false") new Follower(page).start();
  });
  document.addEventListener(
    "toggle",
    (event) => {
      if (event.target instanceof HTMLDetailsElement && event.target.dataset.wire) unfold(event.target);
    },
    true,
  );
}
