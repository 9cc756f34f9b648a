// The playground: what the operator does, and what becomes of the conversation.
"use strict";
(() => {
  const source = document.getElementById("a2a-playground");
  if (!source) return;
  const { bindings, meaning, call, Talk, Wire, make, fill, parsed } = window.A2APlayground;
  const config = JSON.parse(source.textContent);
  const { words } = config;
  const at = (name) => document.getElementById(`a2a-${name}`);
  const talk = new Talk(at("talk"), words);
  const wire = new Wire(at("wire"), at("dropped"), words);
  const ENDED = ["COMPLETED", "FAILED", "CANCELED", "REJECTED"].map((name) => `TASK_STATE_${name}`);
  const ASKS = ["TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED"];
  const POLL_MS = 1000;

  // The conversation: which task, which context, how the task is; `busy` while a call is under way.
  const now = { taskId: "", contextId: "", state: "", since: "", busy: null, said: new Set(), generation: 0 };

  const agent = () => config.agents[at("agent").value];
  const binding = () => bindings[at("binding").value];
  const tenant = () => (at("tenant") ? at("tenant").value : agent().slug);
  const ended = () => ENDED.includes(now.state);
  const asks = () => ASKS.includes(now.state);

  // ------------------------------------------------------------------------------------------------------- what is seen

  const identified = (place, label, id, address) => {
    place.replaceChildren();
    if (!id) return;
    place.append(`${label} `);
    const code = make("code", "", id);
    if (address) {
      const anchor = make("a");
      anchor.href = address.replace("TASK", encodeURIComponent(id));
      anchor.append(code);
      place.append(anchor);
    } else place.append(code);
  };

  const show = () => {
    const state = at("state");
    state.hidden = !now.state;
    state.textContent = words[now.state] || now.state;
    state.className = `a2a-tag ${asks() ? "a2a-warn" : ended() ? (now.state === ENDED[0] ? "a2a-good" : "a2a-bad") : ""}`;
    identified(at("task"), words.task, now.taskId, config.task);
    identified(at("context"), words.context, now.contextId, "");
    at("send").disabled = Boolean(now.busy) || !agent().enabled;
    at("send").textContent = asks() ? words.answer : words.send;
    at("cancel").disabled = !now.taskId || ended();
    at("next").disabled = !now.contextId || Boolean(now.busy);
    if (at("leave")) {
      at("leave").disabled = !(now.busy && now.busy.stream);
      at("watch").disabled = Boolean(now.busy) || !now.taskId || ended();
    }
    for (const name of ["agent", "binding", "tenant"]) if (at(name)) at(name).disabled = Boolean(now.busy);
    let status = words.idle;
    if (now.state === ASKS[0]) status = words.asks;
    else if (now.state === ASKS[1]) status = words.asksAuth;
    else if (now.busy || (now.taskId && !ended())) status = words.working;
    if (at("status").textContent !== status) at("status").textContent = status;
  };

  const showAgent = () => {
    at("off").hidden = agent().enabled;
    at("off").textContent = agent().enabled ? "" : words.off;
    at("extensions").value = agent().extensions.join(", ");
    at("examples").replaceChildren(
      ...agent().examples.map((example) => {
        const button = make("button", "a2a-example", example);
        button.type = "button";
        button.addEventListener("click", () => {
          at("text").value = example;
          at("text").focus();
        });
        return button;
      }),
    );
    const stream = at("mode").querySelector('[value="stream"]');
    if (stream) {
      stream.disabled = !agent().streaming;
      if (stream.disabled && at("mode").value === "stream") at("mode").value = "wait";
    }
    show();
  };

  // ------------------------------------------------------------------------------------------------- what an agent says

  const says = (found) => {
    if (!found || now.said.has(found.messageId)) return;
    if (found.messageId) now.said.add(found.messageId);
    talk.message(words.agent, "agent", found);
  };

  const status = (found) => {
    now.state = found.state || "";
    now.since = found.timestamp || "";
    says(found.message);
    show();
    if (asks()) at("text").focus();
  };

  const belongs = (taskId, contextId) => {
    if (taskId && taskId !== now.taskId) {
      now.taskId = taskId;
      talk.forgetArtifacts();
    }
    if (contextId) now.contextId = contextId;
  };

  // Take in one answer or event. Returns whether it is an error.
  const take = (answer) => {
    const found = meaning(answer);
    if (found.error) {
      talk.note(fill(words.failed, String(found.error.message || found.error.code || "")), true);
      return true;
    }
    if (found.task) {
      belongs(found.task.id, found.task.contextId);
      for (const each of found.task.artifacts || []) talk.artifact(each, false);
      status(found.task.status);
    } else if (found.statusUpdate) {
      belongs(found.statusUpdate.taskId, found.statusUpdate.contextId);
      status(found.statusUpdate.status);
    } else if (found.artifactUpdate) {
      belongs(found.artifactUpdate.taskId, found.artifactUpdate.contextId);
      talk.artifact(found.artifactUpdate.artifact, found.artifactUpdate.append === true);
    } else if (found.message) {
      belongs("", found.message.contextId);
      says(found.message);
    }
    return false;
  };

  // --------------------------------------------------------------------------------------------------------- the calls

  const headers = (request) => {
    const token = document.querySelector("#a2a-form [name=csrfmiddlewaretoken]").value;
    const made = { [config.csrfHeader]: token };
    if (at("extensions").value.trim()) {
      made[at("binding").value === "jsonrpc03" ? "X-A2A-Extensions" : "A2A-Extensions"] = at("extensions").value.trim();
    }
    wire.add("out", `${request.verb} ${request.url}`, {
      value: { ...request.headers, ...Object.fromEntries(Object.entries(made).filter(([name]) => name !== config.csrfHeader)) },
    });
    return made;
  };

  // Make a call and take in what comes; returns whether it went well. `place` is the call that is under way.
  const exchange = async (request, place) => {
    wire.begin();
    const sent = headers(request);
    const title = (request.body && request.body.method) || request.url.slice(config.rest.length) || request.verb;
    if (request.body !== undefined) wire.add("out", title, { value: request.body, open: true });
    let good = true;
    const current = () => place.generation === now.generation;
    const takeIn = (value) => {
      if (current() && value && typeof value === "object" && take(value)) good = false;
    };
    const told = {
      response: (code, type) => wire.add("in", `${code} ${type}`, { bad: code >= 400 }),
      body: (text, code) => {
        const value = parsed(text);
        wire.add("in", words.response, { text, open: true, bad: code >= 400 });
        if (value !== undefined && (code < 400 || value.error)) takeIn(value);
        else if (code >= 400 && current()) {
          good = false;
          talk.note(fill(words.failed, code === 401 ? words.signIn : String(code)), true);
        }
      },
      frame: (frame) => {
        if (!frame.data) {
          if (frame.comment) wire.add("in", words.keepAlive);
          return;
        }
        const number = frame.id ? ` ${frame.id}` : "";
        wire.add("in", `${words.frame}${number}`, { text: frame.data, open: true, bad: frame.event === "error" });
        takeIn(parsed(frame.data));
      },
    };
    try {
      await call(request, { headers: sent, signal: place.abort.signal, told });
    } catch (error) {
      good = false;
      if (place.abort.signal.aborted) {
        if (current()) talk.note(words.left);
      } else if (current()) talk.note(fill(words.lost, error.message), true);
    }
    return good;
  };

  // Do one thing at a time; `work` gets the place of its call.
  const occupied = async (stream, work) => {
    const place = { abort: new AbortController(), stream, generation: now.generation };
    now.busy = place;
    show();
    try {
      await work(place);
    } finally {
      if (now.busy === place) now.busy = null;
      show();
    }
  };

  const resting = (milliseconds, signal) =>
    new Promise((resolve) => {
      window.setTimeout(resolve, milliseconds);
      signal.addEventListener("abort", resolve, { once: true });
    });

  // Ask until the task has ended or asks something; the question that was just answered, of the time `before`, is none.
  const poll = async (place, before) => {
    while (now.taskId && !ended() && (!asks() || now.since === before) && !place.abort.signal.aborted) {
      await resting(POLL_MS, place.abort.signal);
      if (place.abort.signal.aborted || !(await exchange(binding().get(config, tenant(), now.taskId), place))) return;
    }
  };

  const base64 = (file) =>
    new Promise((resolve, reject) => {
      const reader = new FileReader();
      reader.addEventListener("load", () => resolve(reader.result.slice(reader.result.indexOf(",") + 1)));
      reader.addEventListener("error", () => reject(reader.error));
      reader.readAsDataURL(file);
    });

  const parts = async () => {
    const text = at("text").value;
    const found = [];
    if (at("data").checked && text.trim()) found.push({ data: JSON.parse(text) });
    else if (text) found.push({ text });
    for (const file of at("files").files) {
      found.push({
        raw: (await base64(file)).replace(/^data:.*$/, ""),
        filename: file.name,
        mediaType: file.type || "application/octet-stream",
      });
    }
    return found;
  };

  const send = async () => {
    if (now.busy || !agent().enabled) return;
    let content;
    try {
      content = await parts();
    } catch (error) {
      talk.note(fill(words.noJSON, error.message), true);
      return;
    }
    if (!content.length) return;
    if (JSON.stringify(content).length > config.maxBytes) {
      talk.note(fill(words.tooLarge, config.maxBytes), true);
      return;
    }
    if (ended()) Object.assign(now, { taskId: "", state: "" });
    const draft = { parts: content, taskId: now.taskId, contextId: now.contextId };
    const mode = at("mode").value;
    talk.message(words.you, "you", { parts: content });
    at("text").value = "";
    at("files").value = "";
    await occupied(mode === "stream", async (place) => {
      const request = binding().send(config, tenant(), draft, mode === "stream", mode === "poll");
      const before = asks() ? now.since : undefined;
      if ((await exchange(request, place)) && mode === "poll") await poll(place, before);
    });
  };

  const cancel = () => {
    const place = { abort: new AbortController(), generation: now.generation };
    return exchange(binding().cancel(config, tenant(), now.taskId), place);
  };

  const watch = () => occupied(true, (place) => exchange(binding().watch(config, tenant(), now.taskId), place));

  const fresh = (keepContext) => {
    now.generation += 1;
    if (now.busy) now.busy.abort.abort();
    Object.assign(now, { taskId: "", state: "", busy: null, contextId: keepContext ? now.contextId : "" });
    talk.forgetArtifacts();
    if (!keepContext) {
      now.said.clear();
      talk.clear();
    }
    show();
    at("text").focus();
  };

  at("form").addEventListener("submit", (event) => event.preventDefault());
  at("write").addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  at("text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      send();
    }
  });
  at("cancel").addEventListener("click", cancel);
  if (at("leave")) {
    at("leave").addEventListener("click", () => now.busy && now.busy.abort.abort());
    at("watch").addEventListener("click", watch);
  }
  at("next").addEventListener("click", () => fresh(true));
  at("fresh").addEventListener("click", () => fresh(false));
  at("clear").addEventListener("click", () => wire.clear());
  at("agent").addEventListener("change", () => {
    if (at("tenant")) at("tenant").value = agent().slug;
    fresh(false);
    showAgent();
  });
  if (at("tenant")) at("tenant").value = agent().slug;
  showAgent();
})();
