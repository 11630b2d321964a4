// Which placement of the blocks keeps the model's prompt cache? Measured, not argued.
//
// Method: through a real gateway, one conversation of 20 turns, every third with a tool loop of two
// rounds. For each scenario (how often facts change, how often there is recall) and combination of
// places the conversation runs anew. For each model request we count the bytes beyond the longest
// prefix that it shares with any earlier request of the conversation (order: tools, system,
// messages, as providers cache them), divided by four: tokens that have to be paid and computed
// again. The blocks come from the stand-in daemon, so that they are the same in each run. Prints
// the table of plugin/PLACEMENT.md.
//
//   tests/e2e/run placement
import fs from "node:fs";
import { pathToFileURL } from "node:url";
import { FACTS_PLACES, RECALL_PLACES, SETTINGS } from "../../plugin/config.js";
import { World } from "./support/world.mjs";
import { until } from "./support/process.mjs";
import { newBytes } from "./support/prefix.mjs";

const TURNS = 20;
const SCENARIOS = [
  { facts: "never change", changes: [], recall: "every third turn", every: 3 },
  { facts: "change once", changes: [11], recall: "every turn", every: 1 },
  { facts: "change twice", changes: [8, 15], recall: "every third turn", every: 3 },
];
const BYTES_PER_TOKEN = 4;

/** About 3,000 characters of facts; a change adds one in the middle, where its key belongs. */
function factsAt(turn, { changes }) {
  const added = changes.filter((at) => at <= turn).length;
  const detail = "a lasting detail of this project ".repeat(2);
  const lines = Array.from({ length: 30 }, (_, n) =>
    `- project.p${String(n).padStart(2, "0")}: ${detail}${n}`);
  return [...lines, ...Array.from({ length: added }, (_, n) =>
    `- project.p1${n}_added: told in the conversation`)].sort();
}

/** About 1,600 characters of recall, other ones at each turn. */
function recallAt(turn, { every }) {
  if (turn % every !== 0) return [];
  return Array.from({ length: 4 }, (_, n) =>
    `- (2026-0${n + 1}-05) turn ${turn}, excerpt ${n}: ${"what was said back then ".repeat(15)}`);
}

function stepsOf(turn) {
  const sentences = "A sentence of the answer. ".repeat(20);
  if (turn % 3 !== 0) return [{ say: `Answer ${turn}. ${sentences}` }];
  const read = { calls: [{ name: "read", arguments: { path: "notes.txt" } }] };
  return [read, read, { say: `Answer ${turn}, from the notes.` }];
}

async function converse(world, name, scenario) {
  const requests = [];
  for (let turn = 1; turn <= TURNS; turn += 1) {
    await world.ask("/standin/blocks",
      { facts: factsAt(turn, scenario), recall: recallAt(turn, scenario) });
    const outcome = await world.turn(
      `Question ${turn}: ${"with some words of its own ".repeat(8)}`,
      { session: `agent:main:${name}`, steps: stepsOf(turn) });
    requests.push(...outcome.requests);
  }
  return requests;
}

/** Changes the plugin's entry in the running gateway, and waits until it is in force. */
async function place(world, facts, recall) {
  const config = { socketPath: world.socketPath, factsPlacement: facts, recallPlacement: recall };
  const hooks = { allowConversationAccess: true };
  world.writeConfig({ plugin: { enabled: true, hooks, config } });
  await until("the new placement is in force", async () => {
    const { value } = await world.ask("/v1/status");
    const now = value.plugin?.placement;
    return now?.facts === facts && now?.recall === recall;
  }, { timeoutMs: 60_000, child: world.gateway });
}

export function summary(requests) {
  const fresh = newBytes(requests.map(({ body }) => body));
  const tokens = (bytes) => Math.round(bytes / BYTES_PER_TOKEN);
  const sum = (list) => list.reduce((a, b) => a + b, 0);
  return { requests: requests.length, sent: tokens(sum(requests.map(({ text }) => text.length))),
    fresh: tokens(sum(fresh.slice(1))), worst: tokens(Math.max(...fresh.slice(1))) };
}

async function measure(world) {
  const rows = [];
  for (const [n, scenario] of SCENARIOS.entries()) {
    for (const facts of FACTS_PLACES) {
      for (const recall of RECALL_PLACES) {
        await place(world, facts, recall);
        const name = `${n}-${facts}-${recall}`.toLowerCase();
        const requests = await converse(world, name, scenario);
        const row = { scenario, facts, recall, ...summary(requests) };
        console.error(JSON.stringify(row));
        rows.push(row);
      }
    }
  }
  world.writeConfig({ plugin: { enabled: false } });
  await until("the plugin is off", async () => {
    const { requests } = await world.turn("Hello", { session: "agent:main:probe" });
    return !requests[0].text.includes("clawmark_set");
  }, { timeoutMs: 60_000, everyMs: 1000, child: world.gateway });
  const off = summary(await converse(world, "off", SCENARIOS[0]));
  return { rows, off };
}

function table({ rows, off }) {
  const head = ["facts", "recall", "facts in", "recall in", "tokens sent", "tokens not cached",
    "worst request"];
  const lines = [head, head.map(() => "---"),
    ["none", "none", "—", "—", off.sent, off.fresh, off.worst],
    ...rows.map((row) => {
      const chosen = row.facts === SETTINGS.factsPlacement.default
        && row.recall === SETTINGS.recallPlacement.default;
      const mark = (text) => (chosen ? `**${text}**` : text);
      return [row.scenario.facts, row.scenario.recall, mark(row.facts), mark(row.recall),
        row.sent, mark(row.fresh), row.worst];
    })];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  process.env.CLAWMARK_E2E_STANDIN = "1";
  const world = await World.create();
  try {
    fs.writeFileSync(world.in("workspace", "notes.txt"), "A line of the notes.\n".repeat(150));
    await world.startDaemon();
    await world.startGateway();
    console.log(table(await measure(world)));
  } finally {
    await world.destroy();
  }
}
