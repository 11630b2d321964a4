// A scripted, OpenAI-compatible model server on loopback: it says what it is told to say, and keeps
// every request for the tests to look at.
//
// In a test:  const model = await ModelServer.start();
//             model.script([{ calls: [{ name, arguments }] }, { say: "ok" }]);
// By itself:  node model-server.mjs [PORT]   with POST /script [steps] and GET /requests
//
// One step answers one request that offers tools (an agent turn or the next round of its tool
// loop); a step with `match` waits for a request that holds that text; without a step it says "OK".
// Other requests (titles, summaries, extraction) are answered at once and take no step. GET /models
// and embeddings are served, too.
import http from "node:http";
import { once } from "node:events";
import { pathToFileURL } from "node:url";

const LIFE_MS = 60 * 60_000;
const EMBEDDING_DIMENSIONS = 64;
const REQUEST_BYTES_MAX = 4_000_000;

/** @typedef {{say?: string, calls?: {name: string, arguments: object}[], match?: string,
 *             after?: Promise<unknown>}} Step  `after`: answered when it is settled */

export class ModelServer {
  constructor() {
    this.requests = []; // {n, at, path, text, body}
    this.steps = [];
    this.faults = []; // what a strict provider would have refused; it was refused here, too
    this.http = http.createServer((request, response) => this.#serve(request, response));
  }

  static async start(port = 0) {
    const server = new ModelServer();
    server.http.listen(port, "127.0.0.1");
    await once(server.http, "listening");
    server.url = `http://127.0.0.1:${server.http.address().port}/v1`;
    server.timer = setTimeout(() => server.stop(), LIFE_MS);
    server.timer.unref();
    return server;
  }

  async stop() {
    clearTimeout(this.timer);
    this.http.closeAllConnections();
    if (!this.http.listening) return;
    this.http.close();
    await once(this.http, "close");
  }

  /** @param {Step[]} steps for the next requests of an agent turn */
  script(steps) {
    this.steps = [...steps];
  }

  /** Requests of agent turns, the oldest first. */
  turns(from = 0) {
    return this.requests.filter(({ n, body }) => n >= from && body.stream && body.tools?.length);
  }

  async #serve(request, response) {
    const parts = [];
    for await (const part of request) parts.push(part);
    const text = Buffer.concat(parts).toString();
    if (request.method === "GET") {
      return json(response, request.url.endsWith("/requests") ? this.requests
        : { object: "list", data: [{ id: "scripted-1", object: "model" }] });
    }
    const body = JSON.parse(text || "{}");
    if (request.url.endsWith("/script")) {
      this.script(body);
      return json(response, { steps: this.steps.length });
    }
    this.requests.push({ n: this.requests.length, at: Date.now(), path: request.url, text, body });
    if (request.url.endsWith("/embeddings")) return json(response, embeddings(body));
    const fault = faultOf(body, text);
    if (fault) {
      this.faults.push(fault);
      response.statusCode = 400;
      return json(response, { error: { message: fault, type: "invalid_request_error" } });
    }
    const step = body.tools?.length ? this.#stepFor(text) : { say: aside(body) };
    await step.after;
    const answer = { id: `scripted-${this.requests.length}`, model: body.model, step,
      usage: usage(text) };
    return body.stream ? stream(response, answer) : json(response, whole(answer));
  }

  #stepFor(text) {
    const at = this.steps.findIndex(({ match }) => match === undefined || text.includes(match));
    return at < 0 ? { say: "OK" } : this.steps.splice(at, 1)[0];
  }
}

const ROLES = new Set(["system", "developer", "user", "assistant", "tool"]);

/**
 * What the strictest of the providers refuses: unknown roles, an order that cannot be, results
 * without their call and calls without their result, empty words, too many bytes.
 * @returns {string | undefined}
 */
export function faultOf(body, text) {
  if (text.length > REQUEST_BYTES_MAX) return `too large: ${text.length} bytes`;
  const messages = body.messages ?? [];
  const waiting = new Set();
  const seen = new Set();
  let talk = false;
  for (const [at, { role, content, tool_calls: calls = [], tool_call_id: answered }] of
    messages.entries()) {
    const where = `message ${at} of ${messages.length}`;
    if (!ROLES.has(role)) return `${where}: role ${role}`;
    if (role === "tool") {
      if (!waiting.delete(answered)) return `${where}: a result without its call`;
      continue;
    }
    if (waiting.size > 0) return `${where}: ${waiting.size} calls without a result before it`;
    if (role === "system" || role === "developer") {
      if (talk) return `${where}: ${role} within the conversation`;
      continue;
    }
    if (!talk && role !== "user") return `${where}: the conversation begins with ${role}`;
    talk = true;
    if (textOf(content) === "" && calls.length === 0) return `${where}: ${role} says nothing`;
    for (const { id } of calls) {
      if (seen.has(id)) return `${where}: two calls with one id`;
      seen.add(id);
      waiting.add(id);
    }
  }
  if (waiting.size > 0) return `${waiting.size} calls without a result at the end`;
  if (messages.at(-1)?.role === "assistant") return "the assistant has the last word";
  return undefined;
}

/** Text of a message content, whatever its shape. */
export function textOf(content) {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((part) => part.text ?? "").join("\n") : "";
}

/**
 * Requests beside the agent's turns: the service asks for facts, for what was said of the work
 * (with a summary), for one summary of several; the host for a summary in the asked shape. All
 * others get a word.
 */
function aside(body) {
  const texts = (body.messages ?? []).map((message) => textOf(message.content));
  const text = texts.join("\n");
  if (texts[0]?.includes('"facts"')) return '{"facts":[]}';
  if (texts[0]?.includes('"episodes"')) {
    return `${SUMMARY}\n${JSON.stringify({ state: "", nodes: [], edges: [], episodes: [],
      merge: [] })}`;
  }
  if (texts[0]?.startsWith("You join summaries")) return SUMMARY;
  const headings = [...new Set([...text.matchAll(/^## .+$/gm)].map(([heading]) => heading))];
  if (!/summar/i.test(text) || headings.length === 0) return "OK";
  return headings.map((heading) => `${heading}\n- nothing of note`).join("\n\n");
}

const SUMMARY = "They went on about the garden and what grows in it.";

/** Vectors of hashed words: texts with words in common are near each other. */
function embeddings({ input, model, dimensions = EMBEDDING_DIMENSIONS }) {
  const texts = Array.isArray(input) ? input : [input];
  const data = texts.map((text, index) => {
    const vector = new Array(dimensions).fill(0);
    for (const word of String(text).toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
      let hash = 2166136261;
      for (const c of word) hash = Math.imul(hash ^ c.codePointAt(0), 16777619) >>> 0;
      vector[hash % dimensions] += 1;
    }
    const norm = Math.hypot(...vector) || 1;
    return { object: "embedding", index, embedding: vector.map((x) => x / norm) };
  });
  return { object: "list", model, data, usage: { prompt_tokens: 1, total_tokens: 1 } };
}

function usage(text) {
  const tokens = Math.ceil(text.length / 4);
  return { prompt_tokens: tokens, completion_tokens: 10, total_tokens: tokens + 10 };
}

function toolCalls({ id, step }) {
  return (step.calls ?? []).map((call, index) => ({ index, id: `${id}-call-${index}`,
    type: "function",
    function: { name: call.name, arguments: JSON.stringify(call.arguments ?? {}) } }));
}

function whole(answer) {
  const calls = toolCalls(answer);
  const message = { role: "assistant", content: answer.step.say ?? "",
    ...(calls.length ? { tool_calls: calls } : {}) };
  return { id: answer.id, object: "chat.completion", created: 1, model: answer.model,
    choices: [{ index: 0, finish_reason: calls.length ? "tool_calls" : "stop", message }],
    usage: answer.usage };
}

function stream(response, answer) {
  const head = { id: answer.id, object: "chat.completion.chunk", created: 1, model: answer.model };
  const calls = toolCalls(answer);
  const send = (delta, finish = null) => event(response,
    { ...head, choices: [{ index: 0, delta, finish_reason: finish }] });
  response.writeHead(200, { "content-type": "text/event-stream" });
  send({ role: "assistant", content: "" });
  if (answer.step.say) send({ content: answer.step.say });
  for (const call of calls) send({ tool_calls: [call] });
  send({}, calls.length ? "tool_calls" : "stop");
  event(response, { ...head, choices: [], usage: answer.usage });
  response.end("data: [DONE]\n\n");
}

function event(response, value) {
  response.write(`data: ${JSON.stringify(value)}\n\n`);
}

function json(response, value) {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(value));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const server = await ModelServer.start(Number(process.argv[2] ?? 0));
  process.stdout.write(`${server.url}\n`);
}
