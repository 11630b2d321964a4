// What the context engine takes inside the host before a prompt, without the service's part
// (clawmark-history prints that): processor time of one assemble, after each of the last 200 turns
// of a conversation, in both modes; and what of a request comes again in place in the next one.
//
//   node bench/assemble.mjs [TURNS …]     default 300 1000
import { makeEngine } from "../plugin/engine.js";
import { commonBytes, conversation, isUser, prefixShares, told } from
  "../plugin/test/support/conversation.mjs";

const LAST = 200;
const sizes = process.argv.slice(2).map(Number);

/** A service with a summary of each 60 messages, at once. */
function service(messages) {
  const ask = async (path, { from_ms: from, before_ms: before }) => {
    const said = messages.length;
    const chunks = Math.floor(said / 60);
    const block = Array.from({ length: Math.min(chunks, 20) }, (_, n) =>
      `- sum_${n}: "${"what was said ".repeat(80)}"`).join("\n");
    return { ok: true, value: { open: true, stored: said, summarised: true, block,
      covered_ms: before ?? from, as_of: said, stale: false } };
  };
  return { ask, insist: ask, hint: ask };
}

for (const turns of sizes.length ? sizes : [300, 1000]) {
  const messages = conversation(31, turns).map((message, at) => (
    { ...message, timestamp: 1_790_000_000_000 + at * 1000 }));
  const ends = messages.flatMap((message, at) => (isUser(message) ? [at + 1] : [])).slice(-LAST);
  for (const contextMode of ["recursive", "world"]) {
    const config = { contextMode, freshTailCount: contextMode === "world" ? 32 : 20,
      contextThreshold: 0.75, timeoutMs: 300 };
    const times = [];
    const requests = [];
    for (const end of ends) {
      const shown = structuredClone(messages.slice(0, end)); // as a host does
      const engine = makeEngine({ link: service(shown), config });
      const before = process.cpuUsage();
      requests.push(await engine.assemble({ sessionId: "s", messages: shown, tokenBudget: 180_000,
        sessionKey: `agent:main:dashboard:${contextMode}-${turns}` }));
      const { user, system } = process.cpuUsage(before);
      times.push((user + system) / 1000);
    }
    const [first, ...rest] = times;
    rest.sort((a, b) => a - b);
    const at = (share) => rest[Math.floor(share * (rest.length - 1))].toFixed(1);
    console.log(`${turns} turns, ${messages.length} messages, ${contextMode}: first `
      + `${first.toFixed(0)} ms, then p50 ${at(0.5)} p99 ${at(0.99)} ms of processor time`);
    console.log(`  ${told("", prefixShares(requests.map(commonBytes))).slice(2)}`);
  }
}
