// A conversation with memory, as the model sees it: every claim is checked in the requests that a
// real gateway sent to the scripted model. One gateway and one daemon serve all tests of the file,
// in order. Ada is the owner; she and Bob talk to the bot on a channel, directly and in a group.
import { after, before, describe, test } from "node:test";
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { World, currentOf, systemOf, toolResultsOf } from "./support/world.mjs";
import { until } from "./support/process.mjs";
import { commonPrefix, linear, prefixBeforeNewest } from "./support/prefix.mjs";

const ADA = { from: 101 };
const BOB = { from: 202 };
const ADA_IN_GROUP = { from: 101, chat: -100 };
const MAIN = "agent:main:main"; // the owner's own session, without a channel
const BARE = "agent:main:dashboard:bare"; // one that the plugin leaves alone
const OWNER = { agent: "main", session_key: MAIN, sender_is_owner: true, trigger: "tool" };
const GUARD = "[Memory from Clawmark";
/** The machine may be busy; the deadline itself has its own tests (outage.test.mjs). */
const CONFIG = { timeoutMs: 1500, denySessions: [BARE] };
const codePoints = (text) => [...text].length;

let world;
before(async () => {
  world = await World.create({ telegram: { owner: ADA.from }, plugin: { enabled: true,
    hooks: { allowConversationAccess: true }, config: CONFIG } });
  await world.startDaemon();
  await world.startGateway();
}, { timeout: 400_000 });
after(() => world?.destroy());

/** The owner's own use of a tool, past the gateway. */
async function tool(name, params) {
  const answer = await world.ask(`/v1/tools/${name}`, { caller: OWNER, params });
  assert.ok(answer.ok && answer.value.ok, JSON.stringify(answer));
  return answer.value;
}

const call = (name, params) => ({ calls: [{ name, arguments: params }] });

/** Our blocks in a text, with their guards. */
const blocksIn = (text) => [...text.matchAll(
  /\[Memory from Clawmark[^]*?\n\[End of memory [0-9a-f]{16}\]/g)].map(([block]) => block);
const memoryIn = (request) => blocksIn(systemOf(request) + currentOf(request)).join("\n");
const lastResult = (requests) => toolResultsOf(requests.at(-1)).at(-1);

describe("tools", () => {
  test("a fact that the model sets reaches the daemon, the answer the model", async () => {
    const { requests } = await world.say("Please remember that my dentist is Dr. Weiss.", { ...ADA,
      steps: [call("clawmark_set", { key: "user.dentist", value: "Dr. Weiss in Lindenstrasse" }),
        { say: "I will remember." }] });
    assert.equal(requests.length, 2);
    assert.match(lastResult(requests), /user\.dentist/);
    assert.doesNotMatch(lastResult(requests), /not running/);
  });

  test("a search by the model comes back with the fact", async () => {
    const { requests } = await world.say("Which dentist do I use?", { ...ADA, steps: [
      call("clawmark_search", { query: "dentist", limit: 3 }), { say: "Dr. Weiss." }] });
    assert.match(lastResult(requests), /Dr\. Weiss in Lindenstrasse/);
  });

  test("a refusal by rule reaches the model in words", async () => {
    const { requests } = await world.say("Remember this under a bad key.", { ...ADA, steps: [
      call("clawmark_set", { key: "Bad Key!", value: "x" }), { say: "That did not work." }] });
    assert.match(lastResult(requests), /key/i);
    assert.doesNotMatch(lastResult(requests), /not running/);
  });

  test("the host's own memory_search holds our hits", async () => {
    const { requests } = await world.say("Search all memory for my dentist.", { ...ADA, steps: [
      call("tool_call", { id: "openclaw:memory-core:memory_search",
        args: { query: "dentist", corpus: "wiki" } }), { say: "Found." }] });
    assert.match(lastResult(requests), /clawmark\/facts\/user\.dentist/);
  });

  test("/clawmark answers people without a model call", async () => {
    const { answer, requests } = await world.say("/clawmark search dentist", ADA);
    assert.match(answer, /Dr\. Weiss in Lindenstrasse/);
    assert.equal(requests.length, 0);
    assert.match((await world.say("/clawmark facts", ADA)).answer, /user\.dentist: Dr\. Weiss/);
    assert.match((await world.say("/clawmark status", ADA)).answer, /host version: 2026\.9\.6/);
  });
});

describe("injection", () => {
  test("facts end the system prompt, guarded, and no other place has them", async () => {
    const { requests } = await world.say("Good morning.", ADA);
    const [block, ...others] = blocksIn(systemOf(requests[0]));
    assert.match(block, /user\.dentist: Dr\. Weiss in Lindenstrasse/);
    assert.deepEqual(others, []);
    const rest = systemOf(requests[0]).split(block)[1];
    assert.ok(rest.length < 20, `after the block: ${rest}`);
    assert.ok(!currentOf(requests[0]).includes("user.dentist"));
  });

  test("blocks stay within the budget, in whole entries", async () => {
    const keys = Array.from({ length: 80 }, (_, n) => `project.budget.n${n}`);
    for (const [n, key] of keys.entries()) {
      await tool("clawmark_set", { key, value: `${"word ".repeat(40)}${n}` });
    }
    const { requests } = await world.turn("What is the budget of the project?", { session: MAIN });
    const blocks = blocksIn(systemOf(requests[0]) + currentOf(requests[0]));
    const sizes = blocks.map(codePoints);
    assert.ok(sizes[0] > 3000 && sizes[0] <= 6000, `facts: ${sizes[0]}`);
    assert.ok(sizes.reduce((a, b) => a + b) <= 12_000, `all: ${sizes}`);
    const entries = blocks[0].split("\n").filter((line) => line.includes("project.budget"));
    assert.ok(entries.length > 5);
    for (const line of entries) assert.match(line, /word \d+\b/, "a whole entry");
    for (const key of keys) await tool("clawmark_forget", { key });
  });

  test("C121 a forgotten fact is not in the next prompt, nor after a restart", async () => {
    const ask = async () => {
      const { requests } = await world.say("What is my locker code?", ADA);
      return memoryIn(requests[0]).includes("user.locker");
    };
    await world.say("Remember my locker code.", { ...ADA, steps: [
      call("clawmark_set", { key: "user.locker", value: "the code is 7351" }), { say: "Yes." }] });
    assert.equal(await ask(), true);
    const { requests } = await world.say("Forget my locker code.", { ...ADA, steps: [
      call("clawmark_forget", { key: "user.locker" }), { say: "Forgotten." }] });
    assert.match(lastResult(requests), /[Ff]org/);
    assert.equal(await ask(), false);
    await world.stopDaemon();
    assert.equal(await ask(), false, "while the daemon is down");
    await world.startDaemon();
    // A person's own question closes the circuit breaker at once.
    assert.match((await world.say("/clawmark facts", ADA)).answer, /user\.dentist/);
    assert.equal(await ask(), false, "after the restart");
  });
});

describe("C112 prompt cache", () => {
  const QUESTIONS = ["Good morning", "How are you", "Tell me about tea", "And about coffee",
    "What is a prime", "Is seven one", "Name a river", "Where does it end", "Is it cold there",
    "Thank you", "What now", "And then", "Good night"];

  /** Requests of one turn for each question; tool loops on every fourth. */
  async function converse(session, questions, from = 0) {
    const requests = [];
    for (const [n, question] of questions.entries()) {
      const steps = (n + from) % 4 === 3
        ? [{ calls: [{ name: "ls", arguments: { path: "." } }] }, { say: `Answer ${n}` }]
        : [{ say: `Answer ${n}` }];
      requests.push((await world.turn(`${question}?`, { session, steps })).requests);
    }
    return requests;
  }

  /** Bytes of a request's prefix, up to the newest message, that its predecessor did not have. */
  function unstable(turns) {
    return turns.slice(1).map(([first], n) => {
      const before = prefixBeforeNewest(turns[n][0].body);
      return before.length - commonPrefix(before, linear(first.body));
    });
  }

  test("ten turns with equal facts are as stable as without the plugin; a new fact changes the "
    + "end of the system prompt once", async () => {
    const session = "agent:main:dashboard:cache";
    for (const key of ["user.bike", "user.town", "user.zeal"]) {
      await tool("clawmark_set", { key, value: "known from the start" });
    }
    const ten = await converse(session, QUESTIONS.slice(0, 10));
    const bare = await converse(BARE, QUESTIONS.slice(0, 10));
    assert.ok(ten.every(([first]) => systemOf(first).includes(GUARD)), "with memory");
    assert.ok(bare.every(([first]) => !first.text.includes(GUARD)), "without memory");
    assert.deepEqual(unstable(bare), Array(9).fill(0));
    assert.deepEqual(unstable(ten), unstable(bare));
    assert.equal(new Set(ten.flat().map(systemOf)).size, 1);

    await tool("clawmark_set", { key: "user.cat", value: "Möhre" });
    const three = await converse(session, QUESTIONS.slice(10), 10);
    const systems = [...new Set(three.flat().map(systemOf))];
    assert.equal(systems.length, 1, "the prompt changed once, with the fact");
    assert.match(systems[0], /user\.cat: Möhre/);
    const old = systemOf(ten[9][0]);
    assert.ok(commonPrefix(old, systems[0]) > old.indexOf(GUARD), "and only in the block");
    assert.deepEqual(unstable(three), [0, 0]);
  });
});

describe("recall", () => {
  test("C134 what was said before a reset is recalled five seconds later", async () => {
    const saidAt = performance.now();
    await world.say("By the way, the gate code is blue heron.", { ...ADA,
      steps: [{ say: "Noted, thank you." }] });
    assert.match((await world.say("/reset", ADA)).answer, /reset/i);
    await sleep(Math.max(0, 5000 - (performance.now() - saidAt)));

    const { requests } = await world.say("What was the gate code again?", ADA);
    const history = requests[0].body.messages.filter((message) => message.role !== "system"
      && !JSON.stringify(message).includes("What was the gate code again"));
    assert.ok(!JSON.stringify(history).includes("blue heron"), "the host has forgotten it");
    const recalled = blocksIn(currentOf(requests[0])).join();
    assert.match(recalled, /blue heron/);
    assert.ok(!systemOf(requests[0]).includes("blue heron"), "recall is not in the system prompt");
    assert.ok(!recalled.includes("What was the gate code again"), "C119 nor the question itself");
  });

  test("C119 what the request still holds is not recalled", async () => {
    await world.say("My kite is called Zephyrine.", ADA);
    await sleep(3000);
    const { requests } = await world.say("What is my kite called?", ADA);
    assert.ok(requests[0].text.includes("Zephyrine"), "it is in the history");
    assert.ok(!memoryIn(requests[0]).includes("Zephyrine"));
  });
});

describe("walls", () => {
  for (const [who, where] of Object.entries({ "C108 another person": BOB,
    "C109 a group with the owner in it": ADA_IN_GROUP })) {
    test(`${who} gets nothing of the owner's direct chat, by no way`, async () => {
      const { requests } = await world.say("Which dentist, and what was the gate code?", { ...where,
        steps: [call("clawmark_search", { query: "dentist" }),
          call("clawmark_search", { query: "gate code heron" }),
          call("tool_call", { id: "openclaw:memory-core:memory_search",
            args: { query: "dentist", corpus: "wiki" } }), { say: "I do not know." }] });
      assert.equal(requests.length, 4);
      assert.doesNotMatch(requests.at(-1).text, /Weiss|blue heron/);
      const { answer } = await world.say("/clawmark search dentist", where);
      assert.doesNotMatch(answer, /Weiss/);
    });
  }

  test("C184 a sub-agent gets no memory, and what it sets is answered by rule", async () => {
    await tool("clawmark_set", { key: "user.garden", value: "behind the mill" });
    const task = "Sub-task: name a river. Remember the colour is red.";
    const from = world.model.requests.length;
    const { requests } = await world.turn("Let a sub-agent do it.", { session: MAIN, steps: [
      { ...call("tool_call", { id: "openclaw:core:sessions_spawn", args: { task } }),
        match: "Let a sub-agent do it." },
      { ...call("clawmark_set", { key: "pref.colour", value: "red" }),
        match: "[Subagent Task]" }] });
    assert.match(memoryIn(requests[0]), /user\.garden/, "the parent has memory");
    const isChild = (request) => currentOf(request).includes("[Subagent Task]");
    const child = await until("the sub-agent has set its fact", () => world.model.turns(from)
      .find((request) => isChild(request) && toolResultsOf(request).length > 0),
    { timeoutMs: 90_000 });
    assert.ok(!child.text.includes(GUARD));
    assert.doesNotMatch(child.text, /behind the mill/);
    assert.doesNotMatch(lastResult([child]), /not running/);
  });
});
