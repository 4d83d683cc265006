// The one place that reads the process's environment.

/** Variables by name. */
export type Environment = Record<string, string | undefined>

export function readEnvironment(): Environment {
  return { ...process.env }
}
