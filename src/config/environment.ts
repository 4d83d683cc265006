// The one place that reads the process's environment.
import type { Environment } from './load.ts'

export function readEnvironment(): Environment {
  return { ...process.env }
}
