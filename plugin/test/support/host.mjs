// A stand-in for the OpenClaw host: as strict about plugins as the real one where it matters here.
// It runs turns through the registered hooks with the host's own time limit and builds the request
// that a model would get.

import { configSchema } from "../../config.js";

const HOST_LIMIT_MS = 15_000;

/** Where a host version puts the fields of a hook result. */
export const HOSTS = Object.freeze({
  user: { prependContext: "user", appendContext: "user" },
  system: { prependContext: "system", appendContext: "system" },
  unknown: { prependContext: "nowhere", appendContext: "nowhere" },
});

/** The host hands a plugin its schema's defaults as if they had been configured. */
function schemaDefaults() {
  return Object.fromEntries(Object.entries(configSchema().properties)
    .filter(([, rule]) => rule.default !== undefined)
    .map(([name, rule]) => [name, rule.default]));
}

export class Host {
  /** The deadline is long, for busy machines; a test of the deadline sets its own, or undefined. */
  constructor({ version = "2026.9.6", kind = "user", pluginConfig, hooks, limitMs } = {}) {
    const settings = { ...schemaDefaults(), timeoutMs: 1500, ...pluginConfig };
    this.log = [];
    this.handlers = new Map();
    this.tools = new Map();
    this.services = [];
    this.commands = new Map();
    this.corpora = [];
    this.engines = new Map();
    this.listeners = new Set();
    this.fields = HOSTS[kind];
    this.limitMs = limitMs ?? HOST_LIMIT_MS;
    this.api = this.#makeApi(version, settings, hooks ?? { allowConversationAccess: true });
    this.runs = 0;
  }

  /** Like the real loader: a registration that returns a promise is not a registration. */
  load(plugin) {
    const outcome = plugin.register(this.api);
    if (outcome !== undefined && typeof outcome?.then === "function") {
      throw new Error("plugin register must be synchronous");
    }
    return this;
  }

  warnings() {
    return this.log.filter(({ level }) => level === "warn").map(({ text }) => text);
  }

  hook(name) {
    return this.handlers.get(name)?.at(-1);
  }

  /** One turn. Errors of handlers are logged, as the host does, and counted in `hookErrors`. */
  async turn(event, context = {}) {
    this.runs += 1;
    const ctx = { runId: `run-${this.runs}`, agentId: "main", sessionKey: "agent:main:main",
      sessionId: "s-1", trigger: "user", ...context };
    const started = performance.now();
    const result = await this.#dispatch("before_prompt_build", event, ctx);
    const elapsedMs = performance.now() - started;
    const request = this.#request(event, result ?? {});
    await this.#dispatch("llm_input", { runId: ctx.runId, systemPrompt: request.system,
      prompt: request.user, historyMessages: [] }, ctx);
    return { result, request, elapsedMs };
  }

  async startServices() {
    for (const service of this.services) await service.start({ config: this.api.config });
  }

  async stopServices() {
    for (const service of this.services) await service.stop?.({ config: this.api.config });
  }

  emitTranscript(update) {
    for (const listener of this.listeners) listener(update);
  }

  tool(name, toolContext = {}) {
    const tool = this.tools.get(name)(toolContext);
    return tool && ((params, signal) => tool.execute("call-1", params, signal));
  }

  async #dispatch(name, event, ctx) {
    const registered = this.hook(name);
    if (!registered) return undefined;
    const limit = registered.options?.timeoutMs ?? this.limitMs;
    let timer;
    const cutOff = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`timed out after ${limit}ms`)), limit);
    });
    try {
      return await Promise.race([registered.handler(event, ctx), cutOff]);
    } catch (error) {
      this.log.push({ level: "hook-error", text: error.message });
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  #request(event, result) {
    const text = typeof event.prompt === "string" ? event.prompt : "";
    const at = (field, place) => (this.fields[field] === place ? result[field] : undefined);
    const join = (parts) => parts.filter(Boolean).join("\n\n");
    return {
      system: join([result.prependSystemContext, at("prependContext", "system"),
        "You are an agent.", at("appendContext", "system"), result.appendSystemContext]),
      user: join([at("prependContext", "user"), text, at("appendContext", "user")]),
    };
  }

  #makeApi(version, pluginConfig, hooks) {
    const write = (level) => (text) => this.log.push({ level, text });
    const config = { plugins: { entries: { clawmark: { enabled: true, hooks } } } };
    return {
      id: "clawmark", registrationMode: "full", config, pluginConfig,
      logger: { debug: write("debug"), info: write("info"), warn: write("warn"),
        error: write("error") },
      runtime: {
        version,
        events: {
          onSessionTranscriptUpdate: (listener) => {
            this.listeners.add(listener);
            return () => this.listeners.delete(listener);
          },
        },
      },
      on: (name, handler, options) => {
        this.handlers.set(name, [...(this.handlers.get(name) ?? []), { handler, options }]);
      },
      registerTool: (tool, options) => this.tools.set(options.name, tool),
      registerService: (service) => this.services.push(service),
      registerContextEngine: (id, factory) => this.engines.set(id, factory),
      registerCommand: (command) => this.commands.set(command.name, command),
      registerMemoryCorpusSupplement: (supplement) => this.corpora.push(supplement),
    };
  }
}
