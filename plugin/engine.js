// The context engine `clawmark`: a fresh tail, and for the rest a note and tools (mode
// `recursive`) or summaries and where things were left off (mode `world`).
// The host chooses it with plugins.slots.contextEngine. It makes an engine for each turn and
// quarantines one that throws, so nothing here throws, and what must last longer than a turn is
// kept beside the engines or by the service, which reads the transcript itself.
import { assembleTail, estimateTokens } from "./engine/assemble.js";
import { callerFromUpdate } from "./caller.js";
import { compactHistory } from "./engine/compact.js";
import { withoutLarge } from "./engine/large.js";
import { isAnswered, sessionState, withoutBlock } from "./engine/state.js";
import { cutOf, limitsOf, turnsOf } from "./engine/tail.js";
import { jsonOf } from "./engine/tokens.js";
import { unitsOf } from "./engine/units.js";
import { NOTE_TOKENS, viewOf } from "./engine/view.js";
import { worldContext } from "./engine/world.js";
import { knownSender } from "./senders.js";
import { sessionHint } from "./service.js";
import { isIncognito } from "./sessions.js";
import { VERSION } from "./version.js";

export const ENGINE_ID = "clawmark";
const KEYS_MAX = 5000;
const SUMMARISE_MS = 1000;

/** Turns that were committed: the host asks again after a crash. */
const committed = new Set();

export function registerEngine(api, parts) {
  api.registerContextEngine?.(ENGINE_ID, () => makeEngine({ ...parts, logger: api.logger }));
}

/** @param {{link: import("./link.js").Link, config: object, logger: object}} parts */
export function makeEngine(parts) {
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
    ingestBatch: async (batch) => ({ ingestedCount: batch?.messages?.length ?? 0 }),
    assemble: (turn) => assemble(turn, parts),
    compact: (request) => compactHistory(request, sessionState(request),
      { logger: parts.logger, world: isWorld(parts.config),
        ask: (body, options) => insist("/v1/compact", request, body, parts, options) }),
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

/** The plugin's own setting, else what the service was told (RC_FRESH_TAIL), else the default. */
function freshTailOf({ link, config }) {
  const told = isWorld(config) ? link.context?.world_fresh_tail : link.context?.fresh_tail;
  return !config.freshTailIsSet && Number.isInteger(told) && told > 0 ? told
    : config.freshTailCount;
}

const isWorld = (config) => config.contextMode === "world";

function hint(turn) {
  try {
    sessionHint("transcript", turn ?? {});
  } catch { /* a hint: the service looks by itself, too */ }
}

/** In mode world: what the service knows of large contents in their place. */
async function withoutLargeOf(messages, turn, state, { link, config }) {
  if (!isWorld(config) || isIncognito(turn.sessionKey)) return messages;
  return withoutLarge(messages, async (hashes) => {
    const answer = await link.ask("/v1/files", { caller: callerOf(turn), hashes },
      { timeoutMs: config.timeoutMs });
    if (answer.ok) state.large = answer.value.files;
    return state.large; // late once: what was known a turn ago holds
  });
}

async function assemble(turn, parts) {
  let messages = Array.isArray(turn?.messages) ? turn.messages : [];
  try {
    const state = sessionState(turn);
    if (isAnswered(turn, messages, state)) return state.answered.answer;
    messages = withoutBlock(messages, state);
    messages = await withoutLargeOf(messages, turn, state, parts);
    const answer = await contextOf(turn, messages, state, parts);
    state.answered = { answer, prompt: turn.prompt, tokenBudget: turn.tokenBudget };
    return answer;
  } catch (error) {
    parts.logger?.warn?.(`clawmark: only the budget limits what is shown: ${error?.message}`);
    const tail = assembleTail({ messages, keepAll: true, tokenBudget: turn?.tokenBudget,
      asked: isAsked(turn), reserve: reserveFor(turn, messages) });
    return { messages: tail.messages, estimatedTokens: tail.tokens };
  }
}

/** The host adds the newest word after us. */
const isAsked = (turn) => typeof turn?.prompt === "string";

/** The host's answer: what is shown, and what is said of the rest. */
async function contextOf(turn, messages, state, parts) {
  const { config, link } = parts;
  const turns = turnsOf(unitsOf(messages, { asked: isAsked(turn) }));
  if (state.most?.newest !== turns.at(-1)?.key) state.most = undefined;
  const reserve = reserveFor(turn, messages);
  const input = { tokenBudget: turn.tokenBudget, freshTail: freshTailOf(parts),
    most: state.most?.tokens, reserve: reserve + NOTE_TOKENS, asked: reserve > 0,
    repl: link.context?.mode === "repl" };
  if (isWorld(config)) {
    input.threshold = config.contextThreshold ?? link.context?.world_threshold ?? 0.75;
  }
  const ask = (body) => askContext(turn, body, state, parts);
  const plan = isWorld(config) ? await worldContext(turns, input, state, ask)
    : await recursiveContext(turns, input, state, ask);
  const { start, block, tokens, note, messages: shown } = viewOf(turns, plan, input, state);
  state.last = { start, block, tokens, input,
    turns: turns.map((one, at) => (at < start ? { ...one, units: [] } : one)) };
  if (plan.waiting) askToSummarise(turn, state, parts);
  return { messages: shown, estimatedTokens: tokens,
    ...(note ? { systemPromptAddition: note } : {}) };
}

async function recursiveContext(turns, input, state, ask) {
  await ask({ mode: "recursive" });
  const start = cutOf(turns, limitsOf(input), state);
  state.anchor = turns[start]?.key;
  return { start, block: "" };
}

/** The newest word is not in the messages yet: the host adds it after us. */
function reserveFor(turn, messages) {
  const prompt = isAsked(turn) ? turn.prompt : "";
  const last = messages.at(-1);
  const there = last?.role === "user" && jsonOf(last.content).includes(
    jsonOf(prompt.slice(0, 200)).slice(1, -1));
  return prompt && !there ? estimateTokens(prompt) : 0;
}

function callerOf(turn) {
  const caller = { ...callerFromUpdate(turn), trigger: "tool" };
  const sender = knownSender(turn?.sessionKey);
  if (sender !== undefined) caller.sender_id = sender;
  return caller;
}

/** Of this conversation, as far as its caller may see it; undefined: nothing can be had. */
async function askContext(turn, body, state, { link, config }) {
  if (isIncognito(turn.sessionKey)) {
    state.stored = state.held = undefined;
    return undefined;
  }
  const answer = await link.ask("/v1/assemble", { caller: callerOf(turn), ...body },
    { timeoutMs: config.timeoutMs });
  if (!answer.ok) return undefined; // late once: what was known a turn ago holds
  const { open, stored, held } = answer.value;
  const known = open === true && Number.isInteger(stored) && stored > 0;
  state.stored = known ? stored : undefined;
  state.held = known ? (Number.isInteger(held) ? held : stored) : undefined;
  return answer.value;
}

/** Once per cut: the service need not wait until a chunk is full. */
function askToSummarise(turn, state, { link }) {
  if (state.asked === state.anchor) return;
  state.asked = state.anchor;
  const body = { caller: callerOf(turn), wait_ms: 0 };
  void link.hint("/v1/compact", body, { timeoutMs: SUMMARISE_MS });
}

async function insist(path, turn, body, { link }, options) {
  if (isIncognito(turn?.sessionKey)) return undefined;
  const answer = await link.insist(path, { caller: callerOf(turn), ...body }, options);
  return answer.ok ? answer.value : undefined;
}
