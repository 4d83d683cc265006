// Where the service keeps the folders of conversations whose tools it runs itself.
import { join } from 'node:path'
import { systemClock as clock } from '../adapters/system/clock.ts'
import { createScratch } from '../adapters/workspaces/scratch.ts'
import type { Config } from '../config/load.ts'
import type { Scratch } from '../ports/scratch.ts'

export function openScratch({ paths }: Config): Scratch {
  return createScratch({ root: join(paths.dataDir, 'scratch', 'proxies'), clock })
}
