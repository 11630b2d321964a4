// A long conversation through a real gateway: facts are planted, tools called, the conversation is
// reset, the gateway started anew, the context compacted; every request is kept to be looked at.
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { toolResultsOf } from "./world.mjs";
import { commonPrefix, lasting, linear } from "./prefix.mjs";

export const ADA = { from: 101 };
export const SESSION = "agent:main:telegram:direct:101";
const FILLER = "about the garden and what grows in it, in shade and in sun. ";
const WORDS = ["walnut", "birch", "cedar", "maple", "hazel", "rowan", "alder", "aspen"];
const CHARS_PER_TOKEN = 4;

/** @typedef {{turns: number, facts: number, resets: number[], restart?: number,
 *   compact?: number}} Plan  numbers of turns before which it happens */

const codeOf = (n) => `${WORDS[n % WORDS.length]}-${7001 + n}`;

/** What is said in a turn: a fact, or talk. */
function wordOf(turn, { turns, facts }) {
  const every = Math.floor(turns * 0.9 / facts);
  const fact = turn / every;
  return Number.isInteger(fact) && fact < facts
    ? `The code of shed ${fact} is ${codeOf(fact)}, keep it in mind.`
    : `Turn ${turn}: ${FILLER.repeat(5)}`;
}

/**
 * @param {import("./world.mjs").World} world with its gateway at work
 * @param {Plan} plan
 * @returns {Promise<{first: object[], notes: string[]}>} `first`: the first request of each turn
 */
export async function converse(world, plan) {
  const first = [];
  const notes = [];
  for (let turn = 0; turn < plan.turns; turn += 1) {
    if (turn === plan.restart) {
      await world.gateway.stop();
      await world.startGateway();
    }
    if (plan.resets.includes(turn)) notes.push((await world.say("/reset", ADA)).answer);
    if (turn === plan.compact) notes.push((await world.say("/compact", ADA)).answer);
    const look = { name: "clawmark_search", arguments: { query: "what grows in the garden" } };
    const steps = turn % 7 === 3 ? [{ calls: [look, look] }, { calls: [look] },
      { say: `Looked, and noted ${turn}.` }] : [{ say: `Noted ${turn}.` }];
    const { requests } = await world.say(wordOf(turn, plan), { ...ADA, steps });
    if (requests.length === 0) throw new Error(`turn ${turn}: the model was not asked`);
    first.push(requests[0].body);
  }
  return { first, notes };
}

/** The planted facts that no tool has found, ten asked for at a time. */
export async function lostFacts(world, { facts }) {
  const lost = [];
  for (let from = 0; from < facts; from += 10) {
    const asked = Array.from({ length: Math.min(10, facts - from) }, (_, n) => from + n);
    const calls = asked.map((n) => ({ name: "tool_call", arguments: {
      id: "openclaw:clawmark:rc_grep",
      args: { pattern: `code of shed ${n} is`, mode: "regex" } } }));
    const { requests } = await world.say("And the codes of the sheds?",
      { ...ADA, steps: [{ calls }, { say: "There they are." }] });
    const results = toolResultsOf(requests.at(-1)).slice(-asked.length);
    lost.push(...asked.filter((n, at) => !results[at]?.includes(codeOf(n))));
  }
  return lost;
}

/** Messages that the host has stored and the log has not. */
export function missingFromLog(world) {
  const host = read(path.join(world.stateDir, "agents/main/agent/openclaw-agent.sqlite"),
    "SELECT DISTINCT event_id AS id FROM transcript_event_identities WHERE event_type = 'message'");
  const log = new Set(read(world.in("memory.db"),
    "SELECT entry_id AS id FROM messages").map(({ id }) => id));
  return { stored: host.length, missing: host.map(({ id }) => id).filter((id) => !log.has(id)) };
}

export function read(file, sql, ...values) {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    return db.prepare(sql).all(...values);
  } finally {
    db.close();
  }
}

/** What came again in place, from turn to turn. */
function prefixOf(requests) {
  const texts = requests.map((text) => Buffer.from(text));
  const shares = texts.slice(1).map((text, n) => commonPrefix(texts[n], text) / texts[n].length);
  const sorted = shares.toSorted((a, b) => a - b);
  const bytes = texts.slice(0, -1).map(({ length }) => length);
  return { median: sorted[Math.floor(sorted.length / 2)],
    p10: sorted[Math.floor(sorted.length / 10)],
    overall: shares.reduce((all, share, n) => all + share * bytes[n], 0)
      / bytes.reduce((all, one) => all + one, 0),
    whole: shares.filter((share) => share >= 0.95).length / shares.length };
}

/** Input tokens per turn by tenths of the conversation, and what came again in place. */
export function figuresOf(first) {
  const texts = first.map(linear);
  const tokens = texts.map((text) => Math.round(Buffer.byteLength(text) / CHARS_PER_TOKEN));
  const mean = (list) => list.reduce((all, one) => all + one, 0) / list.length;
  const tenth = Math.max(1, Math.floor(tokens.length / 10));
  return {
    tokens,
    perTenth: Array.from({ length: 10 }, (_, n) => Math.round(
      mean(tokens.slice(n * tenth, (n + 1) * tenth)))).filter(Number.isFinite),
    most: Math.max(...tokens),
    mean: Math.round(mean(tokens)),
    prefix: prefixOf(first.map(lasting)),
    all: prefixOf(texts),
  };
}

export function tell(name, { perTenth, most, mean, prefix, all }) {
  const percent = (share) => `${(share * 100).toFixed(1)} %`;
  return `${name}: input tokens per turn ${mean} on average, ${most} at most, by tenths `
    + `${perTenth.join(" ")}; common prefix with the turn before: `
    + `median ${percent(prefix.median)}, p10 ${percent(prefix.p10)}, `
    + `${percent(prefix.overall)} of all bytes, `
    + `95 % or more in ${percent(prefix.whole)} of turns; with what the host says of each turn `
    + `median ${percent(all.median)}, ${percent(all.overall)} of all bytes`;
}
