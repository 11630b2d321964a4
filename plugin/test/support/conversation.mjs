// Conversations drawn with a seed, and what is looked at in the requests that are made of them.
import { messageTokens } from "../../engine/tokens.js";
import { callIds } from "../../engine/units.js";

function random(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state % below;
  };
}

const WORDS = ["plan", "deploy", "日本語の文", "привет", "😀", "src/app.ts", "a1b2c3", "\n", "ok"];
const someText = (pick, words) => Array.from({ length: 1 + pick(words) },
  () => WORDS[pick(WORDS.length)]).join(" ");

export function conversation(seed, turns) {
  const pick = random(seed);
  const out = [];
  let calls = 0;
  for (let turn = 0; turn < turns; turn += 1) {
    out.push({ role: "user", content: `${turn}: ${someText(pick, 40)}` });
    for (let step = pick(4); step > 0; step -= 1) {
      const ids = Array.from({ length: 1 + pick(3) }, () => `call_${calls += 1}`);
      out.push({ role: "assistant", content: [{ type: "text", text: someText(pick, 8) },
        ...ids.map((id) => ({ type: "toolCall", id, name: "ls", arguments: { path: "." } }))] });
      for (const id of ids) {
        out.push({ role: "toolResult", toolCallId: id, toolName: "ls", isError: false,
          content: [{ type: "text", text: someText(pick, pick(10) === 0 ? 3000 : 60) }] });
      }
    }
    out.push({ role: "assistant", content: [{ type: "text", text: someText(pick, 60) }] });
  }
  return out;
}

/** What a strict provider refuses. */
export function faultsOf(messages) {
  const faults = [];
  let waiting = new Set();
  for (const message of messages) {
    if (message.role === "toolResult") {
      if (!waiting.delete(message.toolCallId)) faults.push(`result without a call`);
      continue;
    }
    if (waiting.size > 0) faults.push("call without a result");
    waiting = new Set(callIds(message));
  }
  return faults;
}

export const cost = (messages) =>
  messages.reduce((all, message) => all + messageTokens(message), 0);
export const isUser = (message) => message.role === "user";

/** A request as a provider reads it, from the engine's answer: what is said first, messages. */
export function commonBytes({ messages, systemPromptAddition = "" }) {
  return Buffer.from([systemPromptAddition, ...messages.map((one) => JSON.stringify(one))]
    .join("\n"));
}

/** How much of each request stands at the same place in the next one, in bytes. */
export function prefixShares(bytes) {
  const shares = [];
  let kept = 0;
  let all = 0;
  for (let n = 1; n < bytes.length; n += 1) {
    const shared = commonPrefix(bytes[n - 1], bytes[n]);
    shares.push(shared / bytes[n - 1].length);
    kept += shared;
    all += bytes[n - 1].length;
  }
  shares.sort((a, b) => a - b);
  return { median: shares[Math.floor(shares.length / 2)], overall: kept / all,
    p10: shares[Math.floor(shares.length / 10)],
    whole: shares.filter((share) => share >= 0.95).length / shares.length };
}

function commonPrefix(a, b) {
  const most = Math.min(a.length, b.length);
  let at = 0;
  while (at < most && a[at] === b[at]) at += 1;
  return at;
}

const percent = (share) => `${(share * 100).toFixed(1)} %`;
export const told = (name, { median, p10, overall, whole }) =>
  `${name}: common prefix with the turn `
  + `before: median ${percent(median)}, p10 ${percent(p10)}, ${percent(overall)} of all bytes; `
  + `${percent(whole)} of turns keep 95 % or more`;
