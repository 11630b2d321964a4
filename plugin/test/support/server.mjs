// A scripted memory service on a Unix socket of its own, gone at the end of the test.
import { spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { once } from "node:events";

export function scratchFolder(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "clawmark-plugin-"));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function scratchSocket(t) {
  return path.join(scratchFolder(t), "clawmark.sock");
}

/** Waits until `check` gives something true, and returns it. */
export async function until(check, what = "it happens") {
  const deadline = performance.now() + 10_000;
  for (;;) {
    const value = await check();
    if (value) return value;
    if (performance.now() > deadline) throw new Error(`not in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** An answer to `/v1/inject` with the given blocks. */
export function blocks(facts = "", recall = "") {
  return { protocol: 1, facts_block: facts, facts_version: "0", recall_block: recall, items: [],
    skipped: "", degraded: [], elapsed_ms: 0.1 };
}

export class Server {
  /**
   * @param {(request: {path: string, body: object}, response: http.ServerResponse) => object|void}
   *   script returns the JSON to answer, or handles `response` itself and returns nothing
   */
  constructor(socketPath, script) {
    this.socketPath = socketPath;
    this.script = script;
    this.requests = [];
    this.connections = new Set();
    this.http = http.createServer((request, response) => this.#serve(request, response));
    this.http.on("connection", (connection) => {
      this.connections.add(connection);
      connection.on("close", () => this.connections.delete(connection));
    });
  }

  static async start(t, script, socketPath = scratchSocket(t)) {
    const server = new Server(socketPath, script);
    await server.listen();
    t.after(() => server.close());
    return server;
  }

  async listen() {
    this.http.listen(this.socketPath);
    await once(this.http, "listening");
  }

  async close() {
    for (const connection of this.connections) connection.destroy();
    if (!this.http.listening) return;
    this.http.close();
    await once(this.http, "close");
  }

  asked(path) {
    return this.requests.filter((request) => request.path === path);
  }

  async #serve(request, response) {
    const parts = [];
    for await (const part of request) parts.push(part);
    const text = Buffer.concat(parts).toString();
    const seen = { path: request.url, method: request.method, text,
      body: text ? JSON.parse(text) : undefined };
    this.requests.push(seen);
    const answer = this.script(seen, response);
    if (answer === undefined) return;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(answer));
  }
}

/** A service in a process of its own that can really be killed. Resolves once it listens. */
export async function dyingServer(t, socketPath, mode) {
  const script = new URL("./dying-server.mjs", import.meta.url).pathname;
  const child = spawn(process.execPath, [script, socketPath, mode],
    { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return {
    child,
    nextLine: () => once(child.stdout, "data"),
    async kill() {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
}
