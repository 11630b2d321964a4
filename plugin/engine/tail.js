// Where the fresh tail begins. It grows turn by turn and is cut back in big steps, so that almost
// every request begins with all of the one before it and the provider's prompt cache holds.
//
// The cuts are a function of the messages: played through from the first one, a restart finds the
// same ones. What a process remembers (`anchor`) goes first as long as it is within the limits:
// hosts may hand in a list that has lost its beginning.
import { jsonOf, messageTokens } from "./tokens.js";

/** Turns that the tail may grow by before it is cut back. */
export const GROW_TURNS = 40;
/** Of what a tail may have, what it has after a cut. */
const AFTER_CUT = 0.5;
const KEY_CHARS = 80;

/**
 * A turn begins with a person's word. What stands before the first one is a turn of its own.
 * @typedef {{units: object[], tokens: number, messages: number, key: string,
 *   from?: number, until?: number}} Turn `from`, `until`: ms, of its first and last message
 * @param {{messages: object[], user: boolean}[]} units
 * @returns {Turn[]}
 */
export function turnsOf(units) {
  const turns = [];
  const seen = new Map(); // key → turns that have it: without times, some are alike
  for (const unit of units) {
    if (unit.user || turns.length === 0) {
      turns.push({ units: [], tokens: 0, messages: 0, key: keyOf(unit.messages[0], seen) });
    }
    const turn = turns.at(-1);
    turn.units.push(unit);
    for (const message of unit.messages) {
      turn.messages += 1;
      turn.tokens += messageTokens(message);
      const at = timeOf(message);
      if (at === undefined) continue;
      turn.from = Math.min(turn.from ?? at, at);
      turn.until = Math.max(turn.until ?? at, at);
    }
  }
  return turns;
}

const keys = new WeakMap(); // message → key: the host hands the same objects in again

/** What a message is known by, in lists of different length. */
function keyOf(message, seen) {
  let key = keys.get(message);
  if (key === undefined) {
    key = makeKey(message);
    keys.set(message, key);
  }
  const alike = seen.get(key) ?? 0;
  seen.set(key, alike + 1);
  return alike === 0 ? key : `${key}#${alike}`;
}

function makeKey(message) {
  const content = typeof message.content === "string" ? message.content
    : jsonOf(message.content);
  return `${message.role}|${message.timestamp ?? ""}|${content.length}|`
    + content.slice(0, KEY_CHARS);
}

/** @returns {number | undefined} ms since 1970 */
export function timeOf(message) {
  const at = typeof message?.timestamp === "string" ? Date.parse(message.timestamp)
    : message?.timestamp;
  return Number.isFinite(at) && at > 0 ? Math.trunc(at) : undefined;
}

/**
 * @param {{tokenBudget?: number, freshTail: number, threshold?: number, reserve?: number,
 *   most?: number, keepAll?: boolean}} input `threshold`: of the budget, the share at which the
 *   tail is cut; `reserve`: tokens of what stands beside; `most`: tokens that messages may take,
 *   whatever the budget; `keepAll`: only the budget cuts
 * @returns {{room: number, hard: number, high: number, low: number, fresh: number, grow: number}}
 *   tokens that are left, that are never passed, at which the tail is cut, and to which; messages
 *   that stay; turns it grows by
 */
export function limitsOf({ tokenBudget, freshTail, threshold = 0.6, reserve = 0,
  most = Infinity, keepAll = false }) {
  const budget = Number.isFinite(tokenBudget) && tokenBudget > 0 ? tokenBudget : Infinity;
  const high = keepAll ? budget * 0.9 : budget * threshold;
  const room = Math.min(budget - reserve, most); // below 0: not even what stands beside fits
  return { room, hard: Math.max(0, room), high, low: high * AFTER_CUT,
    fresh: keepAll ? Infinity : freshTail, grow: keepAll ? Infinity : GROW_TURNS };
}

/**
 * The turn with which the tail begins.
 * @param {Turn[]} turns
 * @param {{anchor?: string, notBefore?: string}} known keys of turns: where the tail began last;
 *   where it must not begin before
 */
export function cutOf(turns, limits, { anchor, notBefore } = {}) {
  if (turns.length === 0) return 0;
  const sums = prefixSums(turns);
  const played = play(turns, sums, limits);
  let start = played.start;
  const known = anchor === undefined ? -1 : turns.findLastIndex((turn) => turn.key === anchor);
  if (known >= 0 && known !== start && holds(known, played.least, turns.length, sums, limits)) {
    start = known;
  }
  if (notBefore !== undefined) {
    start = Math.max(start, turns.findLastIndex((turn) => turn.key === notBefore));
  }
  return cutDown(turns, start, limits.hard, limits.low);
}

/** The first turn of which the first `stored` messages do not hold all. */
export function heldUpTo(turns, stored) {
  let messages = 0;
  const first = turns.findIndex((turn) => (messages += turn.messages) > stored);
  return first < 0 ? Math.max(0, turns.length - 1) : first;
}

/** At least the fresh tail, not more than may grow, not too many tokens. */
function holds(start, least, end, sums, limits) {
  return start <= least && least - start < limits.grow
    && sums.tokens[end] - sums.tokens[start] <= limits.high;
}

/** The conversation turn by turn: the tail grows, and is cut back where it has grown enough. */
function play(turns, sums, limits) {
  let start = 0;
  let least = 0;
  for (let end = 1; end <= turns.length; end += 1) {
    least = leastStart(least, end, sums, limits);
    if (!holds(start, least, end, sums, limits)) start = Math.max(start, least);
  }
  return { start, least };
}

/** The latest start that leaves the fresh tail, or as much of it as may be there after a cut. */
function leastStart(from, end, sums, { fresh, low }) {
  let start = from;
  const more = () => sums.messages[end] - sums.messages[start + 1] >= fresh
    || sums.tokens[end] - sums.tokens[start] > low;
  while (start < end - 1 && more()) start += 1;
  return start;
}

/** A later start where too many tokens follow this one: so late that about `low` do. */
export function cutDown(turns, from, hard, low) {
  let tokens = turns.slice(from).reduce((all, turn) => all + turn.tokens, 0);
  if (tokens <= hard) return from;
  let start = from;
  while (start < turns.length - 1 && tokens > Math.min(low, hard)) {
    tokens -= turns[start].tokens;
    start += 1;
  }
  return start;
}

function prefixSums(turns) {
  const tokens = [0];
  const messages = [0];
  for (const turn of turns) {
    tokens.push(tokens.at(-1) + turn.tokens);
    messages.push(messages.at(-1) + turn.messages);
  }
  return { tokens, messages };
}
