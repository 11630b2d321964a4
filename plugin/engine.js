// The context engine `clawmark`, mode `recursive`: a fresh tail, the whole history behind tools.
// The host chooses it with plugins.slots.contextEngine. It makes an engine for each turn and
// quarantines one that throws, so nothing here throws, and what must last longer than a turn is
// kept beside the engines or by the service, which reads the transcript itself.
import { assembleTail, estimateTokens, manifestOf } from "./engine/assemble.js";
import { callerFromUpdate } from "./caller.js";
import { messageTokens } from "./engine/tokens.js";
import { knownSender } from "./senders.js";
import { sessionHint } from "./service.js";
import { isIncognito } from "./sessions.js";
import { VERSION } from "./version.js";

export const ENGINE_ID = "clawmark";
const SESSIONS_MAX = 1000;
const KEYS_MAX = 5000;
/** Of the budget, after the host asked for less: once, twice, … */
const SHRINK_STEP = 0.6;
const SHRINK_MIN = 0.2;

/** Per conversation: how many messages are stored, how much of the budget may be used. */
const sessions = new Map();
/** Turns that were committed: the host asks again after a crash. */
const committed = new Set();

function sessionState(name) {
  let state = sessions.get(name);
  if (state === undefined) {
    if (sessions.size >= SESSIONS_MAX) sessions.delete(sessions.keys().next().value);
    state = { stored: undefined, shrink: 1, tokens: 0 };
    sessions.set(name, state);
  }
  return state;
}

export function registerEngine(api, parts) {
  api.registerContextEngine?.(ENGINE_ID, () => makeEngine({ ...parts, logger: api.logger }));
}

/** @param {{link: import("./link.js").Link, config: object, logger: object}} parts */
export function makeEngine({ link, config, logger }) {
  return {
    info: {
      id: ENGINE_ID,
      name: "Clawmark: history outside the context",
      version: VERSION,
      ownsCompaction: true,
      transcriptSemantics: {
        currentTurnFence: "before-current-turn-entry-v1",
        turnAdvancementIdempotency: "atomic-idempotent-v1",
      },
    },
    bootstrap: async () => ({ bootstrapped: true, importedMessages: 0,
      reason: "the memory service reads the transcript itself" }),
    ingest: async () => ({ ingested: true }),
    assemble: (turn) => assemble(turn, { link, config, logger }),
    compact,
    commitTurn: async (turn) => {
      const known = committed.has(turn?.advancementKey);
      if (!known && turn?.advancementKey !== undefined) {
        if (committed.size >= KEYS_MAX) committed.delete(committed.values().next().value);
        committed.add(turn.advancementKey);
      }
      hint(turn);
      return { status: known ? "duplicate" : "committed" };
    },
    afterTurn: async (turn) => hint(turn),
    maintain: async () => ({ changed: false, bytesFreed: 0, rewrittenEntries: 0 }),
    dispose: async () => {},
  };
}

function hint(turn) {
  try {
    sessionHint("transcript", turn ?? {});
  } catch { /* a hint: the service looks by itself, too */ }
}

async function assemble(turn, { link, config, logger }) {
  const messages = Array.isArray(turn?.messages) ? turn.messages : [];
  try {
    const state = sessionState(turn.sessionKey ?? turn.sessionId ?? "");
    const stored = await storedMessages(turn, state, { link, config });
    const promptTokens = reserveFor(turn, messages);
    const cut = (keepAll) => assembleTail({ messages, tokenBudget: turn.tokenBudget,
      freshTail: config.freshTailCount, shrink: state.shrink, keepAll,
      reserve: promptTokens + estimateTokens(manifestOf({ omitted: 1, stored: 1e6 })) });
    // What the service does not hold yet, or would not give back, has to be shown.
    let tail = cut(stored === undefined);
    if (stored !== undefined && tail.omitted > stored) tail = cut(true);
    const addition = stored === undefined ? "" : manifestOf({ omitted: tail.omitted, stored });
    state.tokens = tail.tokens + estimateTokens(addition);
    return { messages: tail.messages, estimatedTokens: state.tokens,
      ...(addition ? { systemPromptAddition: addition } : {}) };
  } catch (error) {
    logger?.warn?.(`clawmark: the whole conversation is shown: ${error.message}`);
    return { messages, estimatedTokens: messages.reduce((all, m) => all + messageTokens(m), 0) };
  }
}

/** The newest word is not in the messages yet: the host adds it after us. */
function reserveFor(turn, messages) {
  const prompt = typeof turn.prompt === "string" ? turn.prompt : "";
  const last = messages.at(-1);
  const there = last?.role === "user" && JSON.stringify(last.content).includes(
    JSON.stringify(prompt.slice(0, 200)).slice(1, -1));
  return prompt && !there ? estimateTokens(prompt) : 0;
}

/** Of this conversation, as far as its caller may see them; undefined: nothing can be had. */
async function storedMessages(turn, state, { link, config }) {
  if (isIncognito(turn.sessionKey)) return undefined;
  const caller = { ...callerFromUpdate(turn), trigger: "tool" };
  const sender = knownSender(turn.sessionKey);
  if (sender !== undefined) caller.sender_id = sender;
  const answer = await link.ask("/v1/tools/rc_peek", { caller, params: { offset: 0, length: 1 } },
    { timeoutMs: config.timeoutMs });
  if (answer.ok) {
    const total = answer.value.ok === false ? undefined : answer.value.details?.total;
    state.stored = Number.isInteger(total) && total > 0 ? total : undefined;
  }
  return state.stored; // late once: what was known a turn ago holds
}

/** Nothing is summarised: the tail gets shorter from the next turn on, and that is said. */
async function compact(request) {
  const state = sessionState(request?.sessionKey ?? request?.sessionId ?? "");
  const before = state.tokens;
  if (state.shrink <= SHRINK_MIN) {
    return { ok: true, compacted: false,
      reason: "the tail is as short as it gets; nothing was summarised or deleted" };
  }
  state.shrink = Math.max(SHRINK_MIN, state.shrink * SHRINK_STEP);
  return { ok: true, compacted: true,
    reason: "the tail is shorter from now on; nothing was summarised or deleted",
    result: { tokensBefore: before, tokensAfter: Math.floor(before * SHRINK_STEP) } };
}
