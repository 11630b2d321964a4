// The daemon as the plugin sees it: requests behind a circuit breaker, and one warning per outage.
import { request } from "./client.js";
import { Breaker } from "./breaker.js";

const REMEDY = Object.freeze({
  absent: "is it running? Start it with: systemctl --user start clawmark",
  refused: "is it running? Start it with: systemctl --user restart clawmark",
  denied: "the socket belongs to another user",
  timeout: "it is overloaded or stopped; see: clawmark doctor",
  protocol: "nothing is injected until both have the same protocol",
});
/** Failures that are met in no time: asking often is free, and memory is back soon. */
const CHEAP = new Set(["absent", "refused", "denied"]);
const CHEAP_BACK_OFF_MS = 2000;
/** Outages that begin within this time of the last warning are counted, not told. */
const QUIET_MS = 5 * 60_000;

export class Link {
  #outage = false;
  #lastWarningAt = -Infinity;
  #untold = 0;
  #lostTurns = 0;

  /**
   * @param {{socketPath: string, logger: {warn(text: string): void, info?(text: string): void},
   *   breaker?: Breaker, now?: () => number}} parts
   */
  constructor({ socketPath, logger, breaker, now = () => performance.now() }) {
    this.socketPath = socketPath;
    this.logger = logger;
    this.now = now;
    this.breaker = breaker ?? new Breaker({ now });
    /** Called, not awaited, when the daemon answers again after an outage. */
    this.onRecovered = undefined;
    /** @type {{fresh_tail?: number, mode?: string} | undefined} of the last handshake */
    this.context = undefined;
  }

  get down() {
    return this.#outage;
  }

  /** For turns: fails at once while the breaker is open. */
  async ask(path, body, options) {
    if (!this.breaker.admit()) {
      this.#lostTurns += 1;
      return { ok: false, kind: "open", detail: "not asked: it failed a moment ago" };
    }
    return this.#settle(await request(this.socketPath, path, body, options));
  }

  /** For people and tools, who would rather wait than be told "a moment ago". */
  async insist(path, body, options) {
    return this.#settle(await request(this.socketPath, path, body, options));
  }

  /** For hints: dropped unless all is well, and never the start of an outage. */
  async hint(path, body, options) {
    if (this.breaker.state !== "closed") return undefined;
    return request(this.socketPath, path, body, options);
  }

  #settle(answer) {
    if (answer.kind === "aborted") {
      this.breaker.skip();
    } else if (answer.ok || answer.kind === "refusal") {
      this.breaker.succeed();
      this.#recovered();
    } else {
      this.breaker.fail(CHEAP.has(answer.kind) ? CHEAP_BACK_OFF_MS : undefined);
      this.#failed(answer);
    }
    return answer;
  }

  #failed({ kind, detail }) {
    this.#lostTurns += 1;
    if (this.#outage) return;
    this.#outage = true;
    if (this.now() - this.#lastWarningAt < QUIET_MS) {
      this.#untold += 1;
      return;
    }
    this.#lastWarningAt = this.now();
    const more = this.#untold ? ` (${this.#untold} short outages since the last warning)` : "";
    this.#untold = 0;
    this.logger.warn(`clawmark: memory service not available at ${this.socketPath}: ${detail}; `
      + `${REMEDY[kind] ?? "see: clawmark doctor"}. Turns go on without memory.${more}`);
  }

  #recovered() {
    if (!this.#outage) return;
    this.#outage = false;
    if (this.#untold === 0) {
      this.logger.info?.(`clawmark: memory service is back (${this.#lostTurns} requests without)`);
    }
    this.#lostTurns = 0;
    this.onRecovered?.();
  }
}

const links = new Map();

/**
 * The link of a socket, one per process: the host registers the plugin several times, and an outage
 * is one outage however many registrations notice it. The newest logger is the one that is used.
 */
export function sharedLink(socketPath, logger) {
  const known = links.get(socketPath);
  if (known) {
    known.logger = logger;
    return known;
  }
  const link = new Link({ socketPath, logger });
  links.set(socketPath, link);
  return link;
}
