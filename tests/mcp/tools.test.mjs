// The table that the programs compile in says what the plugin's tables say.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { toolText } from "../../schema/make_tools.mjs";

test("schema/tools.json is what schema/make_tools.mjs writes", () => {
  const file = readFileSync(new URL("../../schema/tools.json", import.meta.url), "utf8");
  assert.equal(file, toolText(), "run: node schema/make_tools.mjs > schema/tools.json");
});
