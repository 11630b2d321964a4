// Circuit breaker: after a few failures in a row no turn pays for a dead daemon any more, except
// one trial each time the back-off has passed.
//
//   closed ──three failures in a row──► open ──back-off──► half-open ──a trial succeeds──► closed
//                                         ▲────────a trial fails──────┘

export const FAILURES_TO_OPEN = 3;
export const BACK_OFF_MIN_MS = 1000;
export const BACK_OFF_MAX_MS = 30_000;

export class Breaker {
  #failures = 0;
  #backOffMs = 0;
  #openUntil = 0;
  #trialRunning = false;

  /** @param {{now?: () => number, random?: () => number}} seams clock in ms, uniform in [0, 1) */
  constructor({ now = () => performance.now(), random = Math.random } = {}) {
    this.now = now;
    this.random = random;
  }

  /** "closed" (calls pass), "open" (none pass) or "half-open" (one trial may pass). */
  get state() {
    if (this.#backOffMs === 0) return "closed";
    return this.now() < this.#openUntil || this.#trialRunning ? "open" : "half-open";
  }

  /** Whether a call may be made now. Each true must be followed by succeed(), fail() or skip(). */
  admit() {
    const state = this.state;
    if (state === "half-open") this.#trialRunning = true;
    return state !== "open";
  }

  succeed() {
    this.#failures = 0;
    this.#backOffMs = 0;
    this.#trialRunning = false;
  }

  /**
   * @param {number} backOffMaxMs less for failures that cost nothing to meet again. Failures of
   *   calls that were made although the circuit is open change nothing.
   */
  fail(backOffMaxMs = BACK_OFF_MAX_MS) {
    if (this.#backOffMs > 0 && !this.#trialRunning) return;
    this.#failures += 1;
    this.#trialRunning = false;
    if (this.#failures < FAILURES_TO_OPEN) return;
    const doubled = Math.max(BACK_OFF_MIN_MS, this.#backOffMs * 2);
    this.#backOffMs = Math.min(backOffMaxMs, doubled);
    this.#openUntil = this.now() + this.#backOffMs * (0.8 + 0.4 * this.random());
  }

  /** The call was abandoned for reasons that say nothing about the daemon. */
  skip() {
    this.#trialRunning = false;
  }
}
