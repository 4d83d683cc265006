// The agent programs, in a file of its own because workers load it.

/** Command lines that an agent task can run (NAME-014, NAME-015). */
export const runtimeTypes = ['llma-cli', 'llmo-cli', 'codehost-cli', 'opencode'] as const
/** An agent program. */
export type RuntimeType = (typeof runtimeTypes)[number]

/** How much a model reasons. */
export const reasoningEfforts = ['low', 'medium', 'high', 'xhigh', 'max'] as const
