// The one place where a mode is chosen.

import type { Config } from '../config/load.ts'
import type { Logger } from '../observability/log.ts'
import type { OpenedMode } from './mode.ts'

/** Loads only the chosen mode: the other one costs memory and time. */
export async function openMode(config: Config, log: Logger): Promise<OpenedMode> {
  if (config.mode === 'kubernetes') return (await import('./kubernetes.ts')).openKubernetes(config, log)
  return (await import('./embedded.ts')).openEmbedded(config, log)
}
