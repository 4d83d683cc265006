// Where the service keeps the folders of conversations whose tools it runs itself.
import { join } from 'node:path'
import type { Config } from '../config/load.ts'
import { parseQuantity } from '../contract/values/quantity.ts'
import { systemClock as clock } from '../lib/system-clock.ts'
import type { Scratch } from '../ports/workspaces/sandbox.ts'
import { createScratch } from '../runtime/folders/scratch.ts'
import type { WorkspaceSize } from '../runtime/folders/size.ts'

/** Limits of each task workspace without a git repository, and of each scratch folder. */
export function workspaceSizeOf({ workspaceSize, workspaceFiles }: Config): WorkspaceSize {
  return { bytes: parseQuantity(workspaceSize), files: workspaceFiles }
}

export function openScratch(config: Config): Scratch {
  const root = join(config.paths.dataDir, 'scratch', 'proxies')
  const size = workspaceSizeOf(config)
  const bytes = parseQuantity(config.scratchSize)
  // The same ratio of files to bytes as a single folder.
  const quota = { bytes, files: Math.ceil((size.files * bytes) / size.bytes) }
  return createScratch({ root, clock, size, quota, reserveBytes: parseQuantity(config.diskReserve) })
}
