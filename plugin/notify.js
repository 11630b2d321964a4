// Wake-up hints: "this session has something new". Debounced, bounded, and safe to lose: the daemon
// finds everything by polling as well.
import { callerFromUpdate } from "./caller.js";
import { isIncognito } from "./sessions.js";

export const QUIET_MS = 300;
export const LONGEST_WAIT_MS = 2000;
const PENDING_MAX = 256;
const TIMEOUT_MS = 1000;

export class Notifier {
  #pending = new Map(); // session → {caller, kind, timer, deadline}
  #stopped = false;

  constructor({ link, now = () => performance.now() }) {
    this.link = link;
    this.now = now;
  }

  /** A message was appended to a transcript. Waits for a pause, but not for ever. */
  transcript(update) {
    const caller = callerFromUpdate(update);
    if (this.#stopped || isIncognito(caller.session_key)) return;
    const name = caller.session_id ?? caller.session_key ?? "";
    const known = this.#pending.get(name);
    if (!known && this.#pending.size >= PENDING_MAX) return;
    const entry = known ?? { caller, deadline: this.now() + LONGEST_WAIT_MS };
    clearTimeout(entry.timer);
    const wait = Math.max(0, Math.min(QUIET_MS, entry.deadline - this.now()));
    entry.timer = setTimeout(() => {
      this.#pending.delete(name);
      this.#send(entry.caller, "transcript");
    }, wait);
    entry.timer.unref?.();
    this.#pending.set(name, entry);
  }

  /** A session ended or was reset, or the gateway stops: told at once. */
  event(kind, context) {
    const caller = callerFromUpdate(context);
    if (!isIncognito(caller.session_key)) this.#send(caller, kind);
  }

  stop() {
    this.#stopped = true;
    for (const { timer } of this.#pending.values()) clearTimeout(timer);
    this.#pending.clear();
  }

  #send(caller, kind) {
    void this.link.hint("/v1/notify", { caller, kind }, { timeoutMs: TIMEOUT_MS });
  }
}
