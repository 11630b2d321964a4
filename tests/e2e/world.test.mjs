// The world model through a real gateway: the model asks for it in a fresh session after a reset,
// and a session that begins is told where things were left off.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { World, currentOf, systemOf, toolResultsOf } from "./support/world.mjs";
import { until } from "./support/process.mjs";

const ADA = { from: 101 };
const AS_ADA = { agent: "main", session_key: "agent:main:telegram:direct:101",
  channel: "telegram", sender_id: "101", sender_is_owner: true, trigger: "tool" };

let world;
before(async () => {
  world = await World.create({ telegram: { owner: ADA.from }, plugin: { enabled: true,
    hooks: { allowConversationAccess: true },
    config: { timeoutMs: 1500, toolsets: ["clawmark", "wc"] } } });
  await world.startDaemon();
  await world.startGateway();
}, { timeout: 400_000 });
after(() => world?.destroy());

const restored = async () =>
  (await world.ask("/v1/tools/wc_restore", { caller: AS_ADA, params: {} })).value?.text ?? "";

test("wc_restore in a fresh session after a reset says where things stand", async () => {
  await world.say("We decided to use Mollie instead of Stripe, because the fees are lower.", ADA);
  await world.say("The test sale is blocked by E-SEAT-409.", ADA);
  assert.match((await world.say("/reset", ADA)).answer, /reset/i);
  await until("the world model knows what was said", async () => {
    const text = await restored();
    return /Mollie/.test(text) && /E-SEAT-409/.test(text);
  }, { timeoutMs: 60_000, everyMs: 500 });

  const { requests } = await world.say("Hello again, where did we leave off?", { ...ADA, steps: [
    { calls: [{ name: "tool_call", arguments: { id: "openclaw:clawmark:wc_restore", args: {} } }] },
    { say: "We are blocked by E-SEAT-409." }] });
  const first = systemOf(requests[0]) + currentOf(requests[0]);
  assert.match(first, /where things were left off: "[^\n]*E-SEAT-409/);
  const answer = toolResultsOf(requests.at(-1)).at(-1);
  assert.match(answer, /Decisions in force:/);
  assert.match(answer, /Mollie instead of Stripe, because: the fees are lower \[\d{4}-\d\d-\d\d/);
  assert.match(answer, /Tasks that are blocked:[^]*E-SEAT-409/);
});
