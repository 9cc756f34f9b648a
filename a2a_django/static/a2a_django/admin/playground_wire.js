// What each binding calls things: from an operation to a request, and from what comes back to the objects of 1.0.
// Knows nothing of the page.
"use strict";
window.A2APlayground = {};
(() => {
  const own = (object, name) => (object && Object.hasOwn(object, name) ? object[name] : undefined);

  const newId = () => {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  };

  // A message as the page has it: {parts: [{text} | {data} | {raw, filename, mediaType}], taskId, contextId}.
  const message = ({ parts, taskId, contextId }) => ({
    messageId: newId(),
    role: "ROLE_USER",
    parts,
    ...(contextId && { contextId }),
    ...(taskId && { taskId }),
  });

  const oldPart = (part) => {
    if ("text" in part) return { kind: "text", text: part.text };
    if ("data" in part) return { kind: "data", data: part.data };
    return { kind: "file", file: { bytes: part.raw, name: part.filename, mimeType: part.mediaType } };
  };

  const oldMessage = (draft) => {
    const made = message(draft);
    return { ...made, kind: "message", role: "user", parts: made.parts.map(oldPart) };
  };

  const rpc = (config, method, params, tenant, version) => ({
    verb: "POST",
    url: config.jsonrpc + (version === "0.3" && tenant ? `?tenant=${encodeURIComponent(tenant)}` : ""),
    headers: { "Content-Type": "application/json", "A2A-Version": version },
    body: { jsonrpc: "2.0", id: newId().slice(0, 8), method, params },
  });

  const rest = (config, verb, path, tenant, body) => ({
    verb,
    url: config.rest + (tenant ? `${encodeURIComponent(tenant)}/` : "") + path,
    headers: { ...(body && { "Content-Type": "application/a2a+json" }), "A2A-Version": "1.0" },
    body,
  });

  const bindings = {
    jsonrpc: {
      send: (config, tenant, draft, stream, immediately) =>
        rpc(config, stream ? "SendStreamingMessage" : "SendMessage",
          { tenant, message: message(draft), ...(immediately && { configuration: { returnImmediately: true } }) }, tenant, "1.0"),
      get: (config, tenant, id) => rpc(config, "GetTask", { tenant, id }, tenant, "1.0"),
      cancel: (config, tenant, id) => rpc(config, "CancelTask", { tenant, id }, tenant, "1.0"),
      watch: (config, tenant, id) => rpc(config, "SubscribeToTask", { tenant, id }, tenant, "1.0"),
    },
    rest: {
      send: (config, tenant, draft, stream, immediately) =>
        rest(config, "POST", stream ? "message:stream" : "message:send", tenant,
          { message: message(draft), ...(immediately && { configuration: { returnImmediately: true } }) }),
      get: (config, tenant, id) => rest(config, "GET", `tasks/${encodeURIComponent(id)}`, tenant),
      cancel: (config, tenant, id) => rest(config, "POST", `tasks/${encodeURIComponent(id)}:cancel`, tenant, {}),
      watch: (config, tenant, id) => rest(config, "POST", `tasks/${encodeURIComponent(id)}:subscribe`, tenant, {}),
    },
    jsonrpc03: {
      send: (config, tenant, draft, stream, immediately) =>
        rpc(config, stream ? "message/stream" : "message/send",
          { message: oldMessage(draft), configuration: { blocking: !immediately } }, tenant, "0.3"),
      get: (config, tenant, id) => rpc(config, "tasks/get", { id }, tenant, "0.3"),
      cancel: (config, tenant, id) => rpc(config, "tasks/cancel", { id }, tenant, "0.3"),
      watch: (config, tenant, id) => rpc(config, "tasks/resubscribe", { id }, tenant, "0.3"),
    },
  };

  const newPart = (part) => {
    if (part.kind === "text") return { text: part.text };
    if (part.kind === "data") return { data: part.data };
    const file = part.file || {};
    const told = { filename: file.name, mediaType: file.mimeType };
    return "bytes" in file ? { raw: file.bytes, ...told } : { url: file.uri, ...told };
  };
  const newMessage = (found) => found && { ...found, parts: (found.parts || []).map(newPart) };
  const newArtifact = (found) => ({ ...found, parts: (found.parts || []).map(newPart) });
  const newStatus = (status) => ({
    ...status,
    state: `TASK_STATE_${String(status.state).toUpperCase().replaceAll("-", "_")}`,
    message: newMessage(status.message),
  });

  // What came back, as {task} | {message} | {statusUpdate} | {artifactUpdate} of 1.0; an error as {error}.
  const meaning = (answer) => {
    const error = own(answer, "error");
    if (error) return { error };
    const found = own(answer, "jsonrpc") ? answer.result : answer;
    if (!found || typeof found !== "object") return {};
    switch (own(found, "kind")) {
      case "task":
        return { task: { ...found, status: newStatus(found.status), artifacts: (found.artifacts || []).map(newArtifact) } };
      case "message":
        return { message: newMessage(found) };
      case "status-update":
        return { statusUpdate: { ...found, status: newStatus(found.status) } };
      case "artifact-update":
        return { artifactUpdate: { ...found, artifact: newArtifact(found.artifact) } };
      default:
        return own(found, "status") && own(found, "id") ? { task: found } : found;
    }
  };

  Object.assign(window.A2APlayground, { bindings, meaning });
})();
