// Child processes of a test: logged to a file, bounded in life, ended by their own id.
import { spawn } from "node:child_process";
import fs from "node:fs";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

const LIFE_S = 900 + 12 * Number(process.env.CLAWMARK_E2E_TURNS || 0);

export class Child {
  /** Starts `command` under timeout(1), so that it ends even if the test is killed. */
  constructor(command, args, { env, cwd, log }) {
    this.log = log;
    const out = fs.openSync(log, "a");
    this.process = spawn("timeout", ["-k", "10", String(LIFE_S), command, ...args],
      { env, cwd, stdio: ["ignore", out, out] });
    fs.closeSync(out);
    this.exited = once(this.process, "exit").then(() => { this.gone = true; });
    this.gone = false;
  }

  /** The process itself, not its guard. */
  get pid() {
    const { pid } = this.process;
    const text = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
    return Number(text.split(" ")[0]);
  }

  signal(name) {
    process.kill(this.pid, name);
  }

  async stop() {
    if (this.gone) return;
    this.process.kill("SIGTERM");
    await this.exited;
  }

  async killHard() {
    this.signal("SIGKILL");
    await this.exited;
  }

  text() {
    return fs.readFileSync(this.log, "utf8");
  }
}

/** Polls until `check` gives something true, or throws with `what` and the end of the log. */
export async function until(what, check, { timeoutMs = 10_000, everyMs = 50, child } = {}) {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await check();
    if (value) return value;
    const tail = child ? `\n${child.text().slice(-3000)}` : "";
    if (child?.gone) throw new Error(`${what}: the process has ended${tail}`);
    if (performance.now() > deadline) throw new Error(`${what}: not in ${timeoutMs} ms${tail}`);
    await sleep(everyMs);
  }
}

/** Runs a command to its end: {code, text}. */
export async function run(command, args, { env, cwd, timeoutMs = 180_000 } = {}) {
  const child = spawn(command, args, { env, cwd, stdio: ["ignore", "pipe", "pipe"],
    timeout: timeoutMs });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (part) => { text += part; });
  }
  const [code] = await once(child, "close");
  return { code, text };
}
