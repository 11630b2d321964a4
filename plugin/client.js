// One request to the daemon over its Unix socket. No state, no retry, never throws.
import http from "node:http";

export const PROTOCOL = 1;
export const ANSWER_BYTES_MAX = 1024 * 1024;

/**
 * @typedef {{ok: true, status: number, value: object}
 *   | {ok: false, kind: FailureKind, detail: string, value?: object}} Answer
 * @typedef {"absent" | "refused" | "denied" | "timeout" | "cut" | "too_large" | "invalid"
 *   | "protocol" | "refusal" | "unwell" | "aborted" | "failed"} FailureKind
 *   `refusal` is the daemon's own 4xx answer, `unwell` its 5xx; with all others there was none.
 */

/**
 * Sends `body` (JSON; none means GET) and reads one JSON object. A single deadline covers connect,
 * headers and body; at its end the socket is destroyed, so nothing outlives the call.
 * @returns {Promise<Answer>}
 */
export function request(socketPath, path, body, { timeoutMs, signal } = {}) {
  return new Promise((resolve) => {
    let timer;
    let call;
    const finish = (answer) => {
      if (timer === undefined) return;
      clearTimeout(timer);
      timer = undefined;
      signal?.removeEventListener("abort", onAbort);
      call?.destroy();
      resolve(answer);
    };
    const onAbort = () => finish(failure("aborted", "the caller gave up"));
    // The timer may be late because the gateway was busy, with the answer waiting in the socket:
    // one round of the event loop reads it.
    const onDeadline = () => setImmediate(
      () => finish(failure("timeout", `no answer in ${timeoutMs} ms`)));
    timer = setTimeout(onDeadline, timeoutMs);
    if (signal?.aborted) return onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      call = send(socketPath, path, body, finish);
    } catch (error) {
      finish(failure("failed", error.message));
    }
  });
}

function send(socketPath, path, body, finish) {
  const data = body === undefined ? undefined : Buffer.from(encode(body));
  const headers = data
    ? { "content-type": "application/json", "content-length": data.length }
    : {};
  const call = http.request({
    socketPath, path, method: data ? "POST" : "GET", headers: { host: "clawmark", ...headers },
    agent: false, // a kept-alive socket to a restarted daemon is one failed turn for no gain
  });
  call.on("error", (error) => finish(failure(errorKind(error), error.message)));
  call.on("response", (response) => receive(response, finish));
  call.end(data);
  return call;
}

function receive(response, finish) {
  const announced = Number(response.headers["content-length"]);
  if (announced > ANSWER_BYTES_MAX) return finish(tooLarge());
  const parts = [];
  let bytes = 0;
  response.on("data", (part) => {
    bytes += part.length;
    if (bytes > ANSWER_BYTES_MAX) return finish(tooLarge());
    parts.push(part);
  });
  response.on("error", (error) => finish(failure("cut", error.message)));
  response.on("close", () => {
    if (!response.complete) finish(failure("cut", "the answer broke off"));
  });
  response.on("end", () => finish(interpret(response.statusCode, Buffer.concat(parts))));
}

function interpret(status, bytes) {
  let value;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch {
    return failure("invalid", "the answer is not JSON");
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    return failure("invalid", "the answer is not a JSON object");
  }
  if (value.protocol !== PROTOCOL) {
    return failure("protocol", `the service speaks protocol ${JSON.stringify(value.protocol)}, `
      + `this plugin ${PROTOCOL}: update the older of the two`);
  }
  if (status >= 200 && status < 300) return { ok: true, status, value };
  const message = String(value.error?.message ?? `HTTP ${status}`);
  return { ...failure(status >= 500 ? "unwell" : "refusal", message), value };
}

/** JSON text that a strict parser accepts: no lone surrogates, whatever the host handed over. */
function encode(body) {
  return JSON.stringify(body, (key, value) => (
    typeof value === "string" ? value.toWellFormed() : value));
}

function errorKind(error) {
  switch (error.code) {
    case "ENOENT": return "absent";
    case "ECONNREFUSED": case "ENOTSOCK": return "refused";
    case "EACCES": case "EPERM": return "denied";
    case "ECONNRESET": case "EPIPE": return "cut";
    default: return error.code?.startsWith("HPE_") ? "invalid" : "failed";
  }
}

function tooLarge() {
  return failure("too_large", `the answer is larger than ${ANSWER_BYTES_MAX} bytes`);
}

function failure(kind, detail) {
  return { ok: false, kind, detail };
}
