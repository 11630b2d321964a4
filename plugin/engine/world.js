// Mode `world`: summaries stand for the older part of a conversation, with where things were left
// off behind them, then the fresh tail. What the service says is kept as it was until the tail is
// cut again, so that the request keeps its beginning; when something has been forgotten since, it
// is asked for anew, and when it cannot be checked, it is not shown.
import { cutOf, limitsOf } from "./tail.js";
import { MESSAGE_TOKENS, estimateTokens } from "./tokens.js";

/** Tokens before the fresh tail that may wait for their summary; beyond, they are left out. */
const WAITING_TOKENS_MAX = 40_000;
/** Of the budget, what summaries may take. */
const BLOCK_SHARE = 0.25;
const BLOCK_CHARS_MAX = 60_000;
const CHARS_PER_TOKEN = 3;

/** As a message of its own. */
export const blockTokens = (block) => (block ? estimateTokens(block) + MESSAGE_TOKENS : 0);

/**
 * @typedef {{first: string, block: string, asOf: number}} Frozen `first`: key of the turn with
 *   which the tail begins; the block stands for all before it
 * @param {import("./tail.js").Turn[]} turns
 * @param {{tokenBudget?: number, freshTail: number, threshold: number,
 *   reserve: number, most?: number}} input
 * @param {{anchor?: string, notBefore?: string, frozen?: Frozen}} state of this conversation
 * @param {(request: object) => Promise<object | undefined>} ask the service: POST /v1/assemble;
 *   undefined: no answer
 * @returns {Promise<{start: number, block: string, stored?: number, waiting: boolean}>} changes
 *   `state`; `waiting`: what is older than the fresh tail has no summary yet
 */
export async function worldContext(turns, input, state, ask) {
  const limits = limitsOf(input);
  const cut = cutOf(turns, limits, state);
  state.anchor = turns[cut]?.key;
  const answer = await askWithin(requestFor(turns, cut, input, state), input, ask);
  if (answer?.open !== true) {
    state.frozen = undefined; // what it holds could have been forgotten meanwhile
    return { start: cut, block: "", waiting: false };
  }
  const covered = Number.isFinite(answer.covered_ms) ? answer.covered_ms : 0;
  const first = firstWithout(turns, cut, covered);
  const block = typeof answer.block === "string" ? answer.block : "";
  const compacted = turns.findLastIndex((turn) => turn.key === state.notBefore);
  const waits = answer.summarised === true && first >= compacted
    && fits(turns, first, cut, limits, block);
  const start = waits ? first : cut;
  const kept = keptStart(turns, start, cut, state.frozen, limits, answer.stale === true);
  if (kept === undefined) {
    state.frozen = { first: turns[start]?.key, block, asOf: answer.as_of };
  }
  return { start: kept ?? start, block: state.frozen.block, waiting: waits && first < cut };
}

/** Characters are a guess at tokens; where it was wrong (Chinese), it is asked for less. */
export async function askWithin(request, { tokenBudget }, ask) {
  const answer = await ask(request);
  const most = tokenBudget > 0 ? tokenBudget * BLOCK_SHARE : Infinity;
  const tokens = typeof answer?.block === "string" ? estimateTokens(answer.block) : 0;
  if (tokens <= most) return answer;
  const less = await ask({ ...request, chars: Math.floor(request.chars * most / tokens * 0.9) });
  return less?.block !== undefined && estimateTokens(less.block) <= most ? less
    : { ...less, block: "" };
}

export function requestFor(turns, cut, { tokenBudget }, state) {
  const from = turns.find((turn) => turn.from !== undefined)?.from;
  const before = cut > 0 ? turns[cut].from : from;
  const budget = Number.isFinite(tokenBudget) && tokenBudget > 0 ? tokenBudget : Infinity;
  const chars = Math.floor(Math.min(BLOCK_CHARS_MAX, budget * BLOCK_SHARE * CHARS_PER_TOKEN));
  // Without times nobody can say which summaries belong here: then only the state is asked for.
  const known = from !== undefined && before !== undefined;
  return { mode: "world", from_ms: known ? from : 1, before_ms: known ? before : 1, chars,
    ...(state.frozen && { as_of: state.frozen.asOf }) };
}

/** The first turn of which something was said after what the summaries tell. */
function firstWithout(turns, cut, covered) {
  const at = turns.findIndex((turn, index) => index < cut
    && (turn.until === undefined || turn.until > covered));
  return at < 0 ? cut : at;
}

/** Whether what waits for its summary can be shown until it has one. */
function fits(turns, first, cut, limits, block) {
  const tokens = (from, to) => turns.slice(from, to).reduce((all, turn) => all + turn.tokens, 0);
  return tokens(first, cut) <= WAITING_TOKENS_MAX
    && tokens(first, turns.length) + blockTokens(block) <= limits.high;
}

/**
 * Where the tail began last, as long as that is right: nothing was forgotten, and no further turn
 * has a summary that could stand for all up to the cut.
 */
function keptStart(turns, start, cut, frozen, limits, stale) {
  if (frozen === undefined || stale) return undefined;
  const at = turns.findLastIndex((turn) => turn.key === frozen.first);
  if (at < 0 || at > start) return undefined;
  const waits = start < cut && fits(turns, at, cut, limits, frozen.block);
  return at === start || waits ? at : undefined;
}
