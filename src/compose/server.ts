// `svc up`: the service in the foreground, from its configuration to its last word.
import { commandHint } from '../client/command-hint.ts'
import type { Config } from '../config/load.ts'
import { SvcError } from '../errors.ts'
import { takeOver } from '../launch/local-service.ts'
import { version } from '../launch/program-files.ts'
import { removeServiceNote, type Starter, writePrivateFile } from '../launch/service-file.ts'
import { endSignals, exitOnSignals, keepOnSignals } from '../launch/start-signals.ts'
import { onAbort } from '../lib/abort.ts'
import { maxTimerMs } from '../lib/clock.ts'
import { codeOf } from '../lib/error-code.ts'
import { refuseDebugger } from '../lib/no-debugger.ts'
import { createLog, type Logger } from '../observability/log.ts'
import type { OpenedMode, OwnerToken } from './mode.ts'
import { type RunningService, startService } from './service.ts'

/** Serves until SIGINT or SIGTERM, or until it has been idle for long enough. */
export async function serve(config: Config, startedBy?: Starter): Promise<void> {
  exitOnSignals()
  refuseDebugger()
  const isTerminal = Boolean(process.stderr.isTTY)
  const log = createLog({ level: config.logLevel, pretty: isTerminal, colors: isTerminal })
  // Waiting for a cluster or for a lease does not keep the process alive.
  const awake = setInterval(() => undefined, maxTimerMs)
  const { mode, service } = await open(config, log, startedBy).finally(() => clearInterval(awake))
  try {
    announce(service.url, mode.owner, { config, startedBy })
    log.info({ url: service.url, pid: process.pid }, 'serving')
    const ending = waitForEnd(service.idle)
    // Only now: a signal that arrives while nobody listens is lost.
    keepOnSignals()
    const reason = await ending
    log.info({ reason }, 'stopping')
  } finally {
    removeServiceNote(config.paths.serviceFile, process.pid)
    await service.stop()
  }
  log.info('stopped')
}

/** Loads only the chosen mode: the other one costs memory and time. */
async function openMode(config: Config, log: Logger): Promise<OpenedMode> {
  if (config.mode === 'kubernetes') return (await import('./kubernetes.ts')).openKubernetes(config, log)
  return (await import('./embedded.ts')).openEmbedded(config, log)
}

type Opened = { mode: OpenedMode; service: RunningService }

async function open(config: Config, log: Logger, startedBy: Starter | undefined): Promise<Opened> {
  // Of two that commands start at the same time the first stays.
  if (startedBy !== 'command') {
    await takeOver(config, log).catch((error: unknown) => {
      throw explainListening(error, config)
    })
  }
  const mode = await openMode(config, log)
  return { mode, service: await start(config, mode, log) }
}

async function start(config: Config, mode: OpenedMode, log: Logger): Promise<RunningService> {
  try {
    return await startService(config, mode, log)
  } catch (error) {
    await mode.ports.close()
    throw explainListening(error, config)
  }
}

const listeningErrors: Record<string, (config: Config) => string> = {
  EADDRINUSE: ({ host, port }) =>
    `port ${port} of ${host} is taken: stop what listens there, or choose another with --port; 0 picks a free one`,
  EADDRNOTAVAIL: ({ host }) => `${host} is not an address of this machine: choose another with --host`,
  ENOTFOUND: ({ host }) => `there is no host ${host}: choose another with --host`,
  EACCES: ({ port }) => `port ${port} is not available to this user: choose one above 1023 with --port`,
}

function explainListening(error: unknown, config: Config): unknown {
  const explain = listeningErrors[codeOf(error)]
  return explain ? new SvcError('Conflict', explain(config), { cause: error }) : error
}

/** For the command line, for a requested file, and for a person at a terminal. */
type Announced = { config: Config; startedBy: Starter | undefined }

function announce(url: string, owner: OwnerToken | undefined, { config, startedBy }: Announced): void {
  const token = owner?.text
  if (config.readyFile !== undefined) writePrivateFile(config.readyFile, JSON.stringify({ url, token }))
  if (owner === undefined) return
  writePrivateFile(config.paths.serviceFile, JSON.stringify({ url, token, pid: process.pid, version, startedBy }))
  if (process.stdout.isTTY) greet(url, owner, config)
}

/** Only for people at a terminal: the token is shown once and never logged (MODE-004). */
function greet(url: string, token: OwnerToken, config: Config): void {
  const lines = [
    '',
    `  svc serves at ${url}`,
    ...(isElsewhere(url, config) ? [`  (port ${config.port} is taken by another program)`] : []),
    token.isNew
      ? `  token:        ${token.text}`
      : `  token:        kept in ${config.paths.tokenFile} (${commandHint('token show')})`,
    '',
    '  Next, in another terminal:',
    `    ${commandHint('run "write hello to notes.txt, then read notes.txt"')}`,
    ...(config.dashboard ? [`    ${commandHint('open')}`] : []),
    `    ${commandHint('doctor')}`,
    '',
    '  Ctrl-C stops it.',
    '',
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

function isElsewhere(url: string, { port }: Config): boolean {
  return port !== 0 && new URL(url).port !== String(port)
}

const exitBySecondSignal = 130
/** A terminal and a launcher may both pass on the same Ctrl-C. */
const sameKeyMs = 300

/** Resolves on the first signal; another one after a moment ends the process at once. */
function waitForEnd(idle: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    let first: number | undefined
    const onSignal = (signal: string) => {
      first ??= performance.now()
      resolve(signal)
      if (performance.now() - first > sameKeyMs) process.exit(exitBySecondSignal)
    }
    for (const signal of endSignals) process.on(signal, onSignal)
    onAbort(idle, () => resolve('idle'))
  })
}
