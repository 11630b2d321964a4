// What a request shows, given where the tail begins: the one place that says it, for the request
// itself and for a compaction that foretells the next one.
import { estimateTokens, manifestOf, tailFrom } from "./assemble.js";
import { cutDown, cutOf, heldUpTo, limitsOf } from "./tail.js";
import { blockTokens } from "./world.js";

/** The note about what is left out, at its longest. */
export const NOTE_TOKENS = estimateTokens(manifestOf({ omitted: 1, stored: 1e6,
  summarised: true, repl: true }));

/**
 * @param {import("./tail.js").Turn[]} turns
 * @param {{start: number, block: string}} plan where the tail is to begin; summaries of the rest
 * @param {{tokenBudget?: number, freshTail: number, threshold?: number, reserve: number,
 *   most?: number, asked: boolean, repl: boolean}} input see limitsOf(), assembleTail() and
 *   manifestOf()
 * @param {import("./state.js").State} state changes what it holds of note and summaries
 * @returns {{messages: object[], note: string, block: string, start: number, tokens: number,
 *   unheld: number}} `unheld`: messages that are left out, though the service does not hold them
 */
export function viewOf(turns, plan, input, state) {
  const limits = limitsOf(input);
  let { block } = plan;
  let start = cutDown(turns, plan.start, limits.hard - blockTokens(block), limits.low);
  // What the service does not hold yet, or would not give back, has to be shown. It reads a
  // conversation from its beginning; a tail more, as it also counts what was taken back.
  const held = state.held ?? 0;
  if (messagesBefore(turns, start) > held) {
    start = Math.max(heldUpTo(turns, held - input.freshTail),
      cutOf(turns, limitsOf({ ...input, keepAll: true }), { notBefore: state.notBefore }));
    state.frozen = undefined;
    block = "";
  }
  let tail = tailFrom(turns, start, limits.hard - blockTokens(block), input.asked);
  if (block && tail.shortened > 0) { // what was said last goes before what was said long ago
    block = "";
    tail = tailFrom(turns, start, limits.hard, input.asked);
  }
  const shown = tail.tokens + blockTokens(block);
  const note = shown > limits.room ? "" : noteOf(state, turns[start]?.key, tail.omitted,
    { summarised: block !== "", repl: input.repl });
  return { messages: block ? [blockMessage(block, turns[start]), ...tail.messages] : tail.messages,
    note, block, start, tokens: shown + estimateTokens(note),
    unheld: Math.max(0, tail.omitted - held) };
}

const messagesBefore = (turns, start) =>
  turns.slice(0, start).reduce((all, turn) => all + turn.messages, 0);

/** Until the tail is cut again it says the same, whatever has been added since. */
function noteOf(state, start, omitted, kind) {
  if (omitted === 0 || state.stored === undefined) return "";
  const name = JSON.stringify([start, kind]);
  if (state.note?.start !== name) {
    state.note = { start: name, text: manifestOf({ omitted, stored: state.stored, ...kind }) };
  }
  return state.note.text;
}

function blockMessage(block, turn) {
  return { role: "user", content: block, ...(turn?.from && { timestamp: turn.from }) };
}
