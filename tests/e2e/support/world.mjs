// One world for a test file: a scripted model, the daemon, and a real OpenClaw gateway with the
// plugin, in a folder of their own, all on loopback or Unix sockets.
import fs from "node:fs";
import http from "node:http";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { ModelServer, textOf } from "../model-server.mjs";
import { request } from "../../../plugin/client.js";
import { Child, run, until } from "./process.mjs";
import { TelegramServer } from "./telegram.mjs";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const ROOT = path.resolve(HERE, "../../..");
const TOKEN = "e2e-token";
export const PLUGIN_DIR = path.join(ROOT, "plugin");
export const TURN_TIMEOUT_MS = 180_000;

export class World {
  constructor() {
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), "clawmark-e2e-"));
    this.in = (...parts) => path.join(this.folder, ...parts);
    this.socketPath = this.in("clawmark.sock");
    this.stateDir = this.in("state");
    for (const name of ["home", "state", "workspace", "tmp"]) fs.mkdirSync(this.in(name));
    const cache = process.env.CLAWMARK_TEST_CACHE
      || path.join(os.homedir(), ".cache/clawmark-tests");
    const version = process.env.CLAWMARK_TEST_OPENCLAW || "2026.9.6";
    this.openclaw = path.join(cache, `openclaw-${version}`, "node_modules/.bin/openclaw");
    this.env = {
      PATH: `${path.dirname(process.execPath)}:${process.env.PATH}`, LANG: "C.UTF-8", TZ: "UTC",
      HOME: this.in("home"), TMPDIR: this.in("tmp"), NO_COLOR: "1",
      OPENCLAW_STATE_DIR: this.stateDir, CLAWMARK_STATE_DIR: this.stateDir,
      CLAWMARK_SOCKET: this.socketPath, CLAWMARK_DB_PATH: this.in("memory.db"),
    };
  }

  /** With a model and a host's configuration; the caller starts the rest, and destroys it. */
  static async create(options = {}) {
    const world = new World();
    world.model = await ModelServer.start();
    if (options.telegram) world.telegram = await TelegramServer.start(options.telegram);
    world.port = await freePort();
    world.writeConfig(options);
    return world;
  }

  async destroy() {
    await Promise.all([this.gateway?.stop(), this.#resumeAndStopDaemon()]);
    await Promise.all([this.model?.stop(), this.telegram?.stop()]);
    if (process.env.CLAWMARK_E2E_KEEP) console.log(`kept ${this.folder}`);
    else fs.rmSync(this.folder, { recursive: true, force: true });
  }

  // ---- the host ---------------------------------------------------------------------------------

  /**
   * @param {{plugin?: object|null, paths?: string[]}} options `plugin`: the plugin's entry in the
   *   host's configuration (null: none); `paths`: folders to load plugins from; `telegram`:
   *   {owner} turns that channel on; `slots`: the host's exclusive ones
   */
  writeConfig({ plugin, paths = [PLUGIN_DIR], slots } = {}) {
    const model = { id: "scripted-1", name: "Scripted", reasoning: false, input: ["text"],
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 200_000,
      maxTokens: 8000 };
    const entry = plugin === undefined
      ? { enabled: true, hooks: { allowConversationAccess: true } } : plugin;
    const config = {
      gateway: { mode: "local", bind: "loopback", port: this.port,
        auth: { mode: "token", token: TOKEN },
        http: { endpoints: { chatCompletions: { enabled: true } } } },
      logging: { file: this.in("openclaw.log") },
      models: { mode: "merge", providers: { scripted: { baseUrl: this.model.url, apiKey: "sk-none",
        api: "openai-completions", models: [model] } } },
      agents: { defaults: { model: { primary: "scripted/scripted-1" }, skipBootstrap: true,
        workspace: this.in("workspace") } },
      plugins: { load: { paths }, entries: entry ? { clawmark: entry } : {},
        ...(slots && { slots }) },
      ...this.telegram?.hostConfig(),
    };
    fs.writeFileSync(path.join(this.stateDir, "openclaw.json"), JSON.stringify(config, null, 2));
  }

  /** Again when the host gave up: its state lease has to start in five seconds. */
  async startGateway(attempts = 3) {
    this.gateway = new Child(this.openclaw, ["gateway", "run", "--port", String(this.port)],
      { env: this.env, cwd: this.in("workspace"), log: this.in("gateway.log") });
    try {
      await until("the gateway is ready", () => isReady(this.port),
        { timeoutMs: 240_000, everyMs: 250, child: this.gateway });
    } catch (error) {
      const busy = this.gateway.text().includes("lease heartbeat did not become ready");
      if (!busy || attempts === 1) throw error;
      await this.gateway.stop();
      await this.startGateway(attempts - 1);
    }
  }

  cli(...args) {
    return run(this.openclaw, args, { env: this.env, cwd: this.in("workspace") });
  }

  /**
   * One turn of a conversation, as a client of the gateway.
   * @returns {Promise<{answer: string, elapsedMs: number, requests: object[]}>} with the requests
   *   that the model got in it
   */
  async turn(text, { session = "agent:main:e2e", steps = [], headers = {} } = {}) {
    this.model.script(steps);
    const from = this.model.requests.length;
    const started = performance.now();
    const response = await fetch(`http://127.0.0.1:${this.port}/v1/chat/completions`, {
      method: "POST", signal: AbortSignal.timeout(TURN_TIMEOUT_MS),
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json",
        "x-openclaw-session-key": session, ...headers },
      body: JSON.stringify({ model: "openclaw/main", messages: [{ role: "user", content: text }] }),
    });
    const body = await response.text();
    const elapsedMs = performance.now() - started;
    if (!response.ok) throw new Error(`turn failed: ${response.status} ${body.slice(0, 500)}`);
    const answer = JSON.parse(body).choices[0].message.content;
    return { answer, elapsedMs, requests: this.model.turns(from) };
  }

  /** One message to the bot, and its answer: `chat` and `from` as in TelegramServer. */
  async say(text, { steps = [{ say: `OK ${this.model.requests.length}` }], ...where }) {
    this.model.script(steps);
    const from = this.model.requests.length;
    const started = performance.now();
    const answer = await this.telegram.converse(text, where, TURN_TIMEOUT_MS);
    return { answer, elapsedMs: performance.now() - started, requests: this.model.turns(from) };
  }

  // ---- the daemon -------------------------------------------------------------------------------

  async startDaemon() {
    const [command, ...args] = daemonCommand();
    this.daemon = new Child(command, args,
      { env: this.env, cwd: this.folder, log: this.in("daemon.log") });
    await until("the daemon answers", () => this.ask("/v1/status").then(({ ok }) => ok),
      { timeoutMs: 20_000, child: this.daemon });
  }

  async stopDaemon() {
    await this.daemon?.stop();
  }

  async #resumeAndStopDaemon() {
    if (!this.daemon || this.daemon.gone) return;
    this.daemon.signal("SIGCONT");
    await this.daemon.stop();
  }

  /** A request to the daemon past the plugin: POST with a body, GET without. */
  ask(route, body) {
    return request(this.socketPath, route, body, { timeoutMs: 10_000 });
  }

  async admin(command, params = {}) {
    const answer = await this.ask(`/v1/admin/${command}`, { params });
    if (!answer.ok) throw new Error(`${command}: ${answer.kind} ${answer.detail}`);
    return answer.value;
  }
}

/** The real daemon, or a stand-in for work on the harness itself. */
export function daemonCommand() {
  if (process.env.CLAWMARK_E2E_STANDIN) {
    return [process.execPath, path.join(HERE, "standin-daemon.mjs")];
  }
  const folder = process.env.CLAWMARK_BIN_DIR || path.join(ROOT, "build/release/bin");
  return [path.join(path.resolve(folder), "clawmarkd")];
}

// ---- looking at requests ------------------------------------------------------------------------

export function systemOf({ body }) {
  return body.messages.filter(({ role }) => role === "system" || role === "developer")
    .map(({ content }) => textOf(content)).join("\n");
}

/** The message of the current turn: the last user message that is not the host's own context. */
export function currentOf({ body }) {
  const people = body.messages.filter(({ role, content }) => role === "user"
    && !textOf(content).startsWith("<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>"));
  return textOf(people.at(-1)?.content);
}

export function toolResultsOf({ body }) {
  return body.messages.filter(({ role }) => role === "tool").map(({ content }) => textOf(content));
}

async function freePort() {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

function isReady(port) {
  return new Promise((resolve) => {
    http.get({ host: "127.0.0.1", port, path: "/readyz", timeout: 2000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).on("error", () => resolve(false)).on("timeout", function onTimeout() { this.destroy(); });
  });
}
