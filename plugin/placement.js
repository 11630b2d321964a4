// Where the blocks go in the request, and how we know. PLACEMENT.md has the measurements.
//
// The meaning of a hook's result fields has moved between host versions, and recall in the cached
// system prompt would cost a whole prompt at each turn. So on a version that has not been tested,
// recall waits until a block that may stand anywhere (facts) has been seen to land in the message.

/** Versions that tests/e2e has run against. */
export const TESTED_HOSTS = Object.freeze(["2026.9.6"]);
/** Said where there are no facts to look for; constant, so harmless wherever it lands. */
const PROBE_LINE = "(Clawmark memory is active.)";
const PROBES_MAX = 3;
const FINGERPRINT_CHARS = 120;

export class Placement {
  #fingerprints = new Map(); // run id → text to look for in that run's request
  #probes = 0;

  /**
   * @param {{config: object, hostVersion?: string, logger: {warn(text: string): void}}} parts
   * `state`: "known" (tested, told or proven), "probing", "unknown" (recall stays off)
   */
  constructor({ config, hostVersion, logger }) {
    this.facts = config.factsPlacement;
    this.recall = config.recallPlacement;
    this.logger = logger;
    this.hostVersion = hostVersion;
    this.tested = TESTED_HOSTS.includes(hostVersion);
    this.state = this.tested || config.recallPlacementIsSet ? "known" : "probing";
  }

  get probing() {
    return this.state === "probing";
  }

  /** What to tell the operator at start; undefined on a tested version. */
  get warning() {
    if (this.tested) return undefined;
    const version = this.hostVersion ?? "of an unknown version";
    const what = this.state === "known"
      ? `recall goes to ${this.recall} as configured`
      : "recall starts once it has been seen where the host puts it";
    return `this plugin has not been tested with OpenClaw ${version} (tested: `
      + `${TESTED_HOSTS.join(", ")}); ${what}`;
  }

  /**
   * The hook's result for two blocks; undefined when there is nothing to say.
   * @param {{facts: string, recall: string}} blocks
   * @param {string} [runId] names the request that `observe` will see
   */
  compose({ facts, recall }, runId) {
    if (this.state === "known") return fields([[this.facts, facts], [this.recall, recall]]);
    if (this.state === "unknown") return fields([[this.facts, facts]]);
    const text = facts || PROBE_LINE;
    this.#probes += 1;
    if (this.#probes > PROBES_MAX) {
      this.#giveUp("its requests cannot be seen");
      return fields([[this.facts, facts]]);
    }
    this.#fingerprints.set(runId ?? "", text.slice(0, FINGERPRINT_CHARS));
    return fields([[this.recall, text]]);
  }

  /** Looks where the probe of this run landed: the host's `llm_input` event. */
  observe(event, runId) {
    const wanted = this.#fingerprints.get(runId ?? "");
    if (!this.probing || wanted === undefined) return;
    this.#fingerprints.delete(runId ?? "");
    if (contains(event?.systemPrompt, wanted)) {
      this.#giveUp(`it puts ${this.recall} into the system prompt`);
    } else if (contains(event?.prompt, wanted) || contains(event?.historyMessages, wanted)) {
      this.state = "known";
      this.#fingerprints.clear();
    }
  }

  #giveUp(reason) {
    this.state = "unknown";
    this.#fingerprints.clear();
    const host = `OpenClaw ${this.hostVersion ?? "of an unknown version"}`;
    this.logger.warn(`clawmark: recall is off on ${host}: ${reason}. Facts and tools work. To `
      + "decide yourself: openclaw config set plugins.entries.clawmark.config.recallPlacement "
      + "prependContext (or appendContext)");
  }
}

function contains(value, wanted) {
  if (value === undefined || value === null) return false;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const needle = typeof value === "string" ? wanted : JSON.stringify(wanted).slice(1, -1);
  return text.includes(needle);
}

/** Blocks that share a field stand in the given order: facts, then recall. */
function fields(pairs) {
  const result = {};
  for (const [field, text] of pairs) {
    if (text) result[field] = result[field] ? `${result[field]}\n\n${text}` : text;
  }
  return Object.keys(result).length ? result : undefined;
}
