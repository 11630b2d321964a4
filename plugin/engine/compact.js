// The host asks for less. In mode `world` what waits is summarised, and the tail is cut back to
// what must stay; where that is not enough, and in mode `recursive`, less of the budget is used
// from then on. Nothing is deleted, and the answer says what was done.
import { estimateTokens } from "./tokens.js";

/** Of the budget, after the host asked for less: once, twice, … */
const SHRINK_STEP = 0.6;
const SHRINK_MIN = 0.2;
/** For the service to summarise what waits; a host gives up later than that. */
const WAIT_MS = 20_000;

export async function compactHistory(request, state, { world, freshTail, ask, logger }) {
  try {
    const before = state.tokens;
    const done = world ? await throughSummaries(request, state, freshTail, ask) : {};
    if (done.tokensAfter < before) {
      state.tokens = done.tokensAfter;
      return { ok: true, compacted: true,
        result: { tokensBefore: before, tokensAfter: done.tokensAfter },
        reason: done.summaries > 0
          ? `${done.summaries} summaries stand for what is older than the tail; nothing was deleted`
          : "the tail is shorter; nothing was summarised or deleted" };
    }
    return shrink(state, before, done.why);
  } catch (error) {
    logger?.warn?.(`clawmark: compaction failed: ${error.message}`);
    return { ok: false, compacted: false, reason: error.message };
  }
}

/** The tail shrinks to the fresh messages; `why`: it cannot. */
async function throughSummaries(request, state, freshTail, ask) {
  const { turns } = state;
  let cut = turns.length - 1;
  let messages = turns[cut]?.messages ?? 0;
  while (cut > 0 && messages < freshTail) {
    cut -= 1;
    messages += turns[cut].messages;
  }
  if (cut <= 0) return { why: "all that is shown is fresh" };
  if (turns[cut].from === undefined) return { why: "the messages have no times" };
  const from = turns.find((turn) => turn.from !== undefined).from;
  const answer = await ask({ mode: "world", from_ms: from, before_ms: turns[cut].from,
    chars: 60_000, wait_ms: WAIT_MS }, { timeoutMs: WAIT_MS + 5000, signal: request?.abortSignal });
  if (answer === undefined) return { why: "the memory service did not answer" };
  if (answer.open !== true) return { why: "who speaks here is not known" };
  state.notBefore = turns[cut].key;
  state.frozen = undefined;
  const tail = turns.slice(cut).reduce((all, turn) => all + turn.tokens, 0);
  return { tokensAfter: tail + estimateTokens(answer.block ?? ""),
    summaries: answer.summaries ?? 0 };
}

function shrink(state, before, why) {
  const because = why === undefined ? "" : ` (${why})`;
  if (state.shrink <= SHRINK_MIN) {
    return { ok: true, compacted: false,
      reason: `the tail is as short as it gets; nothing was summarised or deleted${because}` };
  }
  state.shrink = Math.max(SHRINK_MIN, state.shrink * SHRINK_STEP);
  return { ok: true, compacted: true,
    reason: `the tail is shorter from now on; nothing was summarised or deleted${because}`,
    result: { tokensBefore: before, tokensAfter: Math.floor(before * SHRINK_STEP) } };
}
