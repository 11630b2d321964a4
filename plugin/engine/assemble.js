// Which messages a model gets, in mode `recursive`: the newest ones within the budget, whole turns,
// tool pairs intact, the newest turn always. Nothing is remembered from one call to the next, and
// the tail still begins at the same message for many turns, so that the provider's prompt cache
// holds: it begins at a border, and borders depend on what stands before them only.
import { estimateTokens, messageTokens } from "./tokens.js";
import { unitsOf } from "./units.js";

export const FRESH_TAIL = 20;
/** Tails between two borders: a longer one at times is cheaper than one that always moves. */
const TAILS = 3;
/** Of the budget between two borders: the tail jumps by about so much, and then stays. */
const STEP = 0.4;
const EXCERPT_CHARS_MIN = 400;
const NOTE = "(shortened here; the whole text is kept: rc_grep finds it, rc_slice reads it)";

/**
 * @param {{messages: object[], tokenBudget?: number, freshTail?: number, reserve?: number,
 *   keepAll?: boolean, shrink?: number}} input `reserve`: tokens of what is added beside;
 *   `keepAll`: what is left out could not be found again, so only the budget counts; `shrink`: the
 *   share of the budget that may be used, after the host asked for less
 * @returns {{messages: object[], tokens: number, omitted: number, shortened: number}}
 */
export function assembleTail({ messages, tokenBudget, freshTail = FRESH_TAIL, reserve = 0,
  keepAll = false, shrink = 1 }) {
  const turns = turnsOf(unitsOf(messages));
  const budget = Number.isFinite(tokenBudget) && tokenBudget > 0
    ? Math.max(0, Math.floor(tokenBudget * shrink) - reserve) : Infinity;
  const start = startOf(turns, budget, keepAll ? Infinity : freshTail);
  const tail = turns.slice(start);
  const omitted = count(turns.slice(0, start));
  const kept = tail.flatMap((turn) => turn.units.flatMap((unit) => unit.messages));
  const tokens = sum(tail.map((turn) => turn.tokens));
  if (tokens <= budget) return { messages: kept, tokens, omitted, shortened: 0 };
  return squeezed(tail.flatMap((turn) => turn.units), budget, omitted);
}

/** A turn begins with a person's word. What stands before the first one is a turn of its own. */
function turnsOf(units) {
  const turns = [];
  for (const unit of units) {
    if (unit.user || turns.length === 0) turns.push({ units: [], tokens: 0, messages: 0 });
    const turn = turns.at(-1);
    turn.units.push(unit);
    turn.messages += unit.messages.length;
    turn.tokens += sum(unit.messages.map(messageTokens));
  }
  return turns;
}

const part = (amount, step) => (Number.isFinite(step) && step > 0 ? amount / step : 0);
const sum = (numbers) => numbers.reduce((all, number) => all + number, 0);
const count = (turns) => sum(turns.map((turn) => turn.messages));

/** The earliest border from which the rest fits; the newest turn when none does. */
function startOf(turns, budget, freshTail) {
  const borders = bordersOf(turns, budget, freshTail);
  const last = Math.max(0, turns.length - 1);
  let tokens = 0;
  let messages = 0;
  let start = last;
  const turnsLeft = (from) => {
    for (let turn = start - 1; turn >= from; turn -= 1) {
      tokens += turns[turn].tokens;
      messages += turns[turn].messages;
    }
  };
  if (turns.length === 0) return 0;
  tokens = turns[last].tokens;
  messages = turns[last].messages;
  for (const border of borders.toReversed()) {
    if (border >= last) continue;
    turnsLeft(border);
    if (tokens > budget || messages > (TAILS + 1) * freshTail) break;
    start = border;
  }
  return start;
}

/**
 * Turns at which a tail may begin: the first, and each at which the messages before it, with their
 * tokens, make up a further step. Appending moves none of them.
 */
function bordersOf(turns, budget, freshTail) {
  const borders = [0];
  let messages = 0;
  let tokens = 0;
  let bucket = 0;
  for (let turn = 1; turn < turns.length; turn += 1) {
    messages += turns[turn - 1].messages;
    tokens += turns[turn - 1].tokens;
    const now = Math.floor(part(messages, TAILS * freshTail) + part(tokens, budget * STEP));
    if (now !== bucket) borders.push(turn);
    bucket = now;
  }
  return borders;
}

/** A turn larger than the budget: results of tools first, then all else but the newest. */
function squeezed(units, budget, omitted) {
  let shortened = 0;
  let rest = units;
  const tokensOf = () => sum(rest.flatMap((unit) => unit.messages.map(messageTokens)));
  const map = (wanted, limit) => {
    rest = rest.map((unit) => ({ ...unit, messages: unit.messages.map((message) => {
      if (!wanted(message)) return message;
      const short = shorten(message, limit);
      if (short !== message) shortened += 1;
      return short;
    }) }));
  };
  const isResult = (message) => message.role === "toolResult" || message.role === "tool";
  for (const limit of [8000, 2000, EXCERPT_CHARS_MIN]) {
    if (tokensOf() > budget) map(isResult, limit);
  }
  let gone = 0;
  // The oldest steps of a long loop of tools go before its newest, and before the person's word.
  while (tokensOf() > budget && rest.length > 2) {
    const oldest = rest.findIndex((unit, at) => !unit.user && at < rest.length - 1);
    if (oldest < 0) break;
    gone += rest[oldest].messages.length;
    rest = rest.filter((_, at) => at !== oldest);
  }
  for (const limit of [20_000, 8000, 2000, EXCERPT_CHARS_MIN]) {
    if (tokensOf() > budget) map(() => true, limit);
  }
  while (tokensOf() > budget && rest.length > 1) {
    const at = rest[0].user && rest.length > 1 && !rest.slice(1).some((unit) => unit.user) ? 1 : 0;
    gone += rest[at].messages.length;
    rest = rest.filter((_, index) => index !== at);
  }
  return { messages: rest.flatMap((unit) => unit.messages), tokens: tokensOf(),
    omitted: omitted + gone, shortened };
}

/** Head and tail of each text of a message, at most about so many characters. */
export function shorten(message, chars) {
  if (typeof message.content === "string") {
    const text = excerpt(message.content, chars);
    return text === message.content ? message : { ...message, content: text };
  }
  if (!Array.isArray(message.content)) return message;
  let changed = false;
  const content = message.content.map((part) => {
    if (typeof part?.text !== "string") return part;
    const text = excerpt(part.text, chars);
    if (text === part.text) return part;
    changed = true;
    return { ...part, text };
  });
  return changed ? { ...message, content } : message;
}

function excerpt(text, chars) {
  if (text.length <= chars + NOTE.length + 10) return text;
  const head = Math.floor(chars * 0.7);
  return `${text.slice(0, head).toWellFormed()} … ${NOTE} … `
    + text.slice(text.length - (chars - head)).toWellFormed();
}

/**
 * What the model is told of the rest. The count is rounded down, so that the text, and with it the
 * cached prompt behind it, changes seldom. Empty when nothing is left out.
 */
export function manifestOf({ omitted, stored }) {
  if (omitted === 0) return "";
  return "Earlier messages of this conversation are not shown here, but none is lost: "
    + `${about(Math.max(stored ?? 0, omitted))} are stored outside this context. Before saying `
    + "that you do not know, look: rc_grep searches them by words or regular expression, rc_slice "
    + "reads them by number, rc_timeline lists them by day, rc_peek shows the newest, rc_query "
    + "answers a question from them.";
}

/** "more than 800 messages" of 847; two steps in each power of ten. */
export function about(messages) {
  if (messages < 20) return "some messages";
  const power = 10 ** Math.floor(Math.log10(messages));
  const floor = messages >= 5 * power ? 5 * power : messages >= 2 * power ? 2 * power : power;
  return `more than ${floor.toLocaleString("en-US")} messages`;
}

export { estimateTokens };
