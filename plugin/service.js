// The part that lives as long as the gateway: handshake with the daemon, and wake-up hints.
// Sockets, timers and subscriptions start here and not in register(), which runs many times.
import { Notifier } from "./notify.js";

const HELLO_TIMEOUT_MS = 2000;
/** Repeated, so that the daemon knows us after its own restart, too. */
export const HELLO_EVERY_MS = 5 * 60_000;

/**
 * @param {object} api the host's plugin API
 * @param {{link: import("./link.js").Link, hello: () => object}} parts `hello` makes the
 *   handshake's body
 */
export function makeService(api, { link, hello }) {
  let stop = () => {};
  return {
    id: "clawmark-service",
    // A permission given to the running host is news for the daemon: start again, greet again.
    reload: { configPrefixes: ["plugins.entries.clawmark"] },
    start() {
      stop();
      const notifier = new Notifier({ link });
      const unsubscribe = api.runtime?.events?.onSessionTranscriptUpdate?.(
        (update) => notifier.transcript(update));
      const greet = () => sayHello(api, link, hello());
      const timer = setInterval(greet, HELLO_EVERY_MS);
      timer.unref?.();
      link.onRecovered = greet;
      active = notifier;
      stop = () => {
        unsubscribe?.();
        clearInterval(timer);
        notifier.stop();
        if (link.onRecovered === greet) link.onRecovered = undefined;
        if (active === notifier) active = undefined;
      };
      void greet();
    },
    stop() {
      active?.event("shutdown", {});
      stop();
    },
  };
}

let active;

/** Passes a session hook on as a hint, while the service runs. */
export function sessionHint(kind, context) {
  active?.event(kind, context);
}

let toldInert = false;

async function sayHello(api, link, body) {
  const answer = await link.insist("/v1/hello", body, { timeoutMs: HELLO_TIMEOUT_MS });
  // What the service was told in place of the plugin (RC_FRESH_TAIL, RC_MODE).
  if (answer.ok) link.context = answer.value.context;
  if (!answer.ok || answer.value.inert !== true) {
    if (answer.ok) toldInert = false;
    return;
  }
  if (toldInert) return;
  toldInert = true;
  api.logger.warn("clawmark: the memory service runs but is inert (incomplete configuration): "
    + "see: clawmark doctor");
}
