// What stands between the plugin and its work in this gateway, said loudly and with the remedy.

export const PLUGIN_ID = "clawmark";
export const ALLOW_COMMAND =
  `openclaw config set plugins.entries.${PLUGIN_ID}.hooks.allowConversationAccess true`;
// The host does not replace a plugin that is at work, and does not try again by itself.
export const RELOAD_COMMAND = `openclaw plugins reload ${PLUGIN_ID}`;
const ALLOW_PROMPT_COMMAND =
  `openclaw config set plugins.entries.${PLUGIN_ID}.hooks.allowPromptInjection true`;

/**
 * Hooks that the host's configuration keeps from us. A plugin that is not part of the host must be
 * allowed to see prompts; no installer sets that.
 * @param {object} hostConfig the host's whole configuration
 * @param {string[]} wanted hooks that need the permission
 */
export function blockedHooks(hostConfig, wanted) {
  const policy = hostConfig?.plugins?.entries?.[PLUGIN_ID]?.hooks;
  if (policy?.allowConversationAccess !== true) return [...wanted];
  return policy?.allowPromptInjection === false ? ["before_prompt_build"] : [];
}

/** One sentence per obstacle, with the exact command that removes it. */
export function warnings(hostConfig, wanted) {
  const policy = hostConfig?.plugins?.entries?.[PLUGIN_ID]?.hooks;
  if (policy?.allowConversationAccess !== true) {
    return [`nothing is injected into prompts: the host blocks the hook ${wanted.join(", ")}. `
      + `Reading history and the memory tools work. To allow it: ${ALLOW_COMMAND} `
      + `(should a turn be running then, afterwards also: ${RELOAD_COMMAND})`];
  }
  if (policy?.allowPromptInjection === false) {
    return ["nothing is injected into prompts: the host forbids it. "
      + `To allow it: ${ALLOW_PROMPT_COMMAND}`];
  }
  return [];
}
