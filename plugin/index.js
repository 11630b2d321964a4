// The OpenClaw plugin: hooks, tools and a command, all answered by the memory service over its Unix
// socket. It keeps no state of its own and does no work beyond asking.
import { resolveConfig } from "./config.js";
import { makeCommand } from "./command.js";
import { ENGINE_ID, registerEngine } from "./engine.js";
import { makeCorpusSupplement } from "./corpus.js";
import { PLUGIN_ID, blockedHooks, warnings } from "./health.js";
import { hostTimeoutMs, makeInjectHook } from "./inject.js";
import { sharedLink } from "./link.js";
import { Placement } from "./placement.js";
import { makeService, sessionHint } from "./service.js";
import { registerTools } from "./tools.js";
import { VERSION } from "./version.js";

export default {
  id: PLUGIN_ID,
  name: "Clawmark memory",
  description: "Memory that survives anything: facts and recall from the whole history.",
  register,
};

/**
 * Synchronous, as the host requires; it runs many times and opens nothing. Each change of the
 * plugin's entry registers anew with the new `api.config`, while the host's idea of its current
 * configuration still lags behind.
 */
function register(api) {
  const config = resolveConfig(api.pluginConfig);
  const link = sharedLink(config.socketPath, api.logger);
  const hostVersion = api.runtime?.version;
  const placement = new Placement({ config, hostVersion, logger: api.logger });
  const wanted = placement.probing ? ["before_prompt_build", "llm_input"] : ["before_prompt_build"];

  api.on("before_prompt_build", makeInjectHook({ link, config, placement, logger: api.logger }),
    { timeoutMs: hostTimeoutMs(config) });
  if (placement.probing) {
    api.on("llm_input", (event, ctx) => placement.observe(event, event?.runId ?? ctx?.runId));
  }
  api.on("session_end", (event, ctx) => sessionHint("session_end", { ...ctx, ...event }));
  api.on("before_reset", (event, ctx) => sessionHint("reset", ctx));

  registerTools(api, { link, config });
  registerEngine(api, { link, config });
  if (config.memorySearch) {
    api.registerMemoryCorpusSupplement?.(makeCorpusSupplement({ link, config }));
  }
  api.registerCommand?.(makeCommand({
    link, config, health: () => warnings(api.config, wanted),
  }));
  api.registerService?.(makeService(api, {
    link,
    hello: () => ({
      plugin_version: VERSION,
      host_version: hostVersion ?? "unknown",
      placement: { facts: placement.facts, recall: placement.recall },
      blocked_hooks: blockedHooks(api.config, wanted),
      // Empty: the host builds its requests without us.
      context_mode: api.config?.plugins?.slots?.contextEngine === ENGINE_ID
        ? config.contextMode : "",
    }),
  }));
  if (api.registrationMode === undefined || api.registrationMode === "full") {
    for (const text of warnings(api.config, wanted)) warnOnce(api.logger, text);
    if (placement.warning) warnOnce(api.logger, placement.warning);
  }
}

const warned = new Set();

function warnOnce(logger, text) {
  if (warned.has(text)) return;
  warned.add(text);
  logger.warn(`clawmark: ${text}`);
}
