// The agent programs, in a file of its own because workers load it.

/** Command lines that an agent task can run (NAME-014, NAME-015). */
export const runtimeTypes = ['llma-cli', 'llmo-cli', 'codehost-cli', 'opencode'] as const
/** An agent program. */
export type RuntimeType = (typeof runtimeTypes)[number]

/** The programs' own names, for people. */
export const runtimeNames: Record<RuntimeType, string> = {
  'llma-cli': 'Claude Code',
  'llmo-cli': 'Codex',
  'codehost-cli': 'GitHub Copilot',
  opencode: 'opencode',
}

/** `llma-cli (Claude Code)`; a word that is none of them as it is. */
export function describeRuntime(type: string): string {
  const name = (runtimeNames as Partial<Record<string, string>>)[type]
  return name === undefined || name === type ? type : `${type} (${name})`
}

/** How much a model reasons. */
export const reasoningEfforts = ['low', 'medium', 'high', 'xhigh', 'max'] as const
