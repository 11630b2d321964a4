// The `before_prompt_build` hook: asks "what should the agent know now?" and places the answer.
// It never throws, never waits beyond its deadline, and keeps no block from one turn to the next:
// what has been forgotten since could be in it.
import { callerFromHook } from "./caller.js";
import { queryOf, windowOf } from "./query.js";
import { rememberSender } from "./senders.js";
import { mayInject, sessionClass } from "./sessions.js";

/** On top of our own deadline, so that the host never has to cut us off. */
const HOST_MARGIN_MS = 500;

export function hostTimeoutMs(config) {
  return config.timeoutMs + HOST_MARGIN_MS;
}

/**
 * @param {{link: import("./link.js").Link, config: object,
 *   placement: import("./placement.js").Placement, logger: object}} parts
 */
export function makeInjectHook({ link, config, placement, logger }) {
  return async function beforePromptBuild(event, context) {
    try {
      if (config.budgetChars === 0 || !mayInject(context, config)) return undefined;
      const body = injectRequest(event, context, config);
      rememberSender(body.caller);
      logger.debug?.(`clawmark: a query of ${body.prompt.length} characters`
        + (config.logQueries ? `: ${JSON.stringify(body.prompt)}` : ""));
      const answer = await link.ask("/v1/inject", body, { timeoutMs: config.timeoutMs });
      if (!answer.ok) return undefined;
      if (answer.value.skipped === "lane") tellClosedLane(context, logger);
      context?.hookInvocation?.assertActive?.();
      return placement.compose(blocksOf(answer.value, config.budgetChars), context?.runId);
    } catch (error) {
      logger.debug?.(`clawmark: no memory in this turn: ${error.message}`);
      return undefined;
    }
  };
}

let toldClosedLane = false;

/** allowSessions opened what the service keeps closed: the two lists have to agree. */
function tellClosedLane(context, logger) {
  if (toldClosedLane || sessionClass(context) === "person") return;
  toldClosedLane = true;
  logger.warn(`clawmark: ${context.sessionKey} is in allowSessions, but the memory service gives `
    + "such sessions nothing: add the same glob to its key inject_sessions");
}

export function injectRequest(event, context, config) {
  return {
    caller: callerFromHook(context),
    prompt: queryOf(event),
    window: windowOf(event),
    budget_chars: config.budgetChars,
  };
}

/**
 * The two blocks of an answer, within the budget. A block is never cut (its guard would stay open):
 * it is there or not, and facts go before recall.
 */
export function blocksOf(answer, budgetChars) {
  const blocks = { facts: "", recall: "" };
  let left = budgetChars;
  for (const name of ["facts", "recall"]) {
    const text = answer[`${name}_block`];
    if (typeof text !== "string" || !text) continue;
    const chars = codePoints(text);
    if (chars > left) continue;
    blocks[name] = text;
    left -= chars;
  }
  return blocks;
}

function codePoints(text) {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
