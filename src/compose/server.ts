// `svc up`: the service in the foreground, from its configuration to its last word.
import { existsSync, readFileSync } from 'node:fs'
import { systemIds } from '../adapters/system/clock.ts'
import type { Config } from '../config/load.ts'
import { createLog } from '../observability/log.ts'
import { openEmbedded } from './embedded.ts'
import { startService } from './service.ts'
import { removeServiceNote, writePrivateFile } from './service-file.ts'

/** Serves until SIGINT or SIGTERM, or until it is idle for long. */
export async function serve(config: Config): Promise<void> {
  const isTerminal = Boolean(process.stderr.isTTY)
  const log = createLog({ level: config.logLevel, pretty: isTerminal, colors: isTerminal })
  const token = takeToken(config)
  const mode = await openEmbedded(config, { ownerToken: token.text, log })
  const service = await startService(config, mode, log)
  const note = JSON.stringify({ url: service.url, token: token.text, pid: process.pid })
  writePrivateFile(config.paths.serviceFile, note)
  if (config.readyFile !== undefined) {
    writePrivateFile(config.readyFile, JSON.stringify({ url: service.url, token: token.text }))
  }
  if (process.stdout.isTTY) greet(service.url, token, config)
  log.info({ url: service.url, pid: process.pid }, 'serving')
  const reason = await waitForEnd(service.idle)
  log.info({ reason }, 'stopping')
  removeServiceNote(config.paths.serviceFile, process.pid)
  await service.stop()
  log.info('stopped')
}

type OwnerToken = { text: string; isNew: boolean }

/** The owner's token: the given one, the kept one, or a new one that is kept (MODE-005, CLI-003). */
function takeToken(config: Config): OwnerToken {
  if (config.bootstrapToken !== undefined) return { text: config.bootstrapToken, isNew: false }
  const { tokenFile } = config.paths
  if (existsSync(tokenFile)) return { text: readFileSync(tokenFile, 'utf8').trim(), isNew: false }
  const text = `svc_${systemIds.hex(64)}`
  writePrivateFile(tokenFile, `${text}\n`)
  return { text, isNew: true }
}

/** For people at a terminal only: the token is shown once and never logged (MODE-004). */
function greet(url: string, token: OwnerToken, config: Config): void {
  const lines = [
    '',
    `  svc serves at ${url}`,
    token.isNew ? `  token:        ${token.text}` : `  token:        kept in ${config.paths.tokenFile}`,
    '',
    '  Next, in another terminal:',
    '    npx svc run "write hello to notes.txt, then read notes.txt"',
    '    npx svc doctor',
    '',
    '  Ctrl-C stops it.',
    '',
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

function waitForEnd(idle: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve(signal))
    idle.addEventListener('abort', () => resolve('idle'), { once: true })
  })
}
