// What is known of each conversation between its turns: the host makes an engine for each.
import { jsonOf } from "./tokens.js";

const SESSIONS_MAX = 1000;

/**
 * @typedef {object} State
 * @property {number} [stored] messages of the conversation that tools find
 * @property {number} [held] messages of the session that the service has read
 * @property {string} [anchor] key of the turn with which the tail began last
 * @property {string} [notBefore] key of the turn before which it must not begin: compacted
 * @property {{newest: string, tokens: number}} [most] what may be shown, while the turn with that
 *   key is the newest: compacted
 * @property {import("./world.js").Frozen} [frozen]
 * @property {{start: string, text: string}} [note]
 * @property {string} [asked] the anchor for which the service was asked to summarise
 * @property {Last} [last] the last request
 * @property {object} [answered] the last request as the host got it, and for what
 */

/**
 * @typedef {{turns: import("./tail.js").Turn[], start: number, block: string, tokens: number,
 *   input: object}} Last only the turns from `start` on hold their messages; `block`: as
 *   the host got it; `input`: of viewOf()
 */

/** @type {Map<string, State>} */
const sessions = new Map();

export function sessionState(turn) {
  const name = turn?.sessionKey ?? turn?.sessionId ?? "";
  let state = sessions.get(name);
  if (state === undefined) {
    if (sessions.size >= SESSIONS_MAX) sessions.delete(sessions.keys().next().value);
    state = {};
    sessions.set(name, state);
  }
  return state;
}

/**
 * Hosts hand in what they were just answered, for the same word: its note stands in the system
 * prompt already, so that nothing may be cut again. A compaction ends that.
 */
export function isAnswered(turn, messages, { answered }) {
  const before = answered?.answer.messages;
  return before !== undefined && messages.length > 0 && messages.length === before.length
    && turn.prompt !== undefined && turn.prompt === answered.prompt
    && turn.tokenBudget === answered.tokenBudget
    && messages.every((message, at) => jsonOf(message) === jsonOf(before[at]));
}

/** What was answered before comes without the summaries: those are no part of the conversation. */
export function withoutBlock(messages, { last }) {
  const [first] = messages;
  return last?.block && first?.role === "user" && first.content === last.block
    ? messages.slice(1) : messages;
}
