// Writes schema/tools.json, which the programs compile in, from the plugin's tables of tools:
//   node schema/make_tools.mjs > schema/tools.json
// tests/mcp/tools.test.mjs fails when the file is behind.
import { pathToFileURL } from "node:url";
import { TOOLSETS } from "../plugin/tools.js";

/** Every tool once: family, name, title, description, JSON schema of its arguments, longest wait. */
export function toolTable() {
  return Object.entries(TOOLSETS).flatMap(([family, tools]) => tools.map((tool) => ({
    family,
    name: tool.name,
    title: tool.label,
    description: tool.description,
    ...(tool.timeoutMs ? { timeout_ms: tool.timeoutMs } : {}),
    inputSchema: {
      type: "object", properties: tool.properties, required: tool.required,
      additionalProperties: false,
    },
  })));
}

export const toolText = () => `${JSON.stringify(toolTable(), null, 1)}\n`;

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) process.stdout.write(toolText());
