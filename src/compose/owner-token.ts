// The owner's token: configured, stored, or generated and stored (MODE-005, CLI-003).
import { existsSync, readFileSync } from 'node:fs'
import type { Config } from '../config/load.ts'
import { writePrivateFile } from '../launch/service-file.ts'
import { systemIds } from '../runtime/host/clock.ts'

export type OwnerToken = { text: string; isNew: boolean }

export function takeOwnerToken(config: Config): OwnerToken {
  if (config.bootstrapToken !== undefined) return { text: config.bootstrapToken, isNew: false }
  const { tokenFile } = config.paths
  if (existsSync(tokenFile)) return { text: readFileSync(tokenFile, 'utf8').trim(), isNew: false }
  const text = `svc_${systemIds.hex(64)}`
  writePrivateFile(tokenFile, `${text}\n`)
  return { text, isNew: true }
}
