// Finds the service that a command means: a named one, or the one of the data folder, which is started in the background.
import { spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createApiClient, requireReachable } from '../client/client.ts'
import { commandHint } from '../client/command-hint.ts'
import { type ContextStore, createContextStore, readTarget, type ServiceTarget } from '../client/contexts.ts'
import { createLoginStore, findLoginToken, type LoginStore } from '../client/login/stored-logins.ts'
import type { ConnectOptions, ServiceOptions, StartedService } from '../client/machine.ts'
import { readEnvironment } from '../config/environment.ts'
import { type Config, loadConfig } from '../config/load.ts'
import { SvcError } from '../errors.ts'
import { trimTrailing } from '../lib/trim.ts'
import { prepareFolders } from './folders.ts'
import { awaitLocalService } from './local-service.ts'
import { launcherPath } from './program-files.ts'
import { readServiceNote, type ServiceNote, startedByVariable, writePrivateFile } from './service-file.ts'

/** The configuration from the options and the environment. */
export function configOf(options: ServiceOptions): Config {
  const env = readEnvironment()
  const file = options.config ?? env.SVC_CONFIG
  return loadConfig({ flags: options.settings, env, file })
}

export function resolveTarget(options: ServiceOptions): ServiceTarget {
  return readTarget(options, { env: readEnvironment(), contexts: openContexts(options) })
}

export type Connected = { client: Client; started?: StartedService; note?: ServiceNote }

/** Of a service that is starting or ending, for it to be there or gone. */
const transitionTimeoutMs = 30_000

/** Unavailable, with what to type, when no service runs and none is to be started. */
export async function reach(options: ServiceOptions, { start = true }: ConnectOptions = {}): Promise<Connected> {
  const target = resolveTarget(options)
  if (target.server !== undefined) return { client: await createNamed(target.server, target, options) }
  const found = await reachLocal(options, target)
  if (found !== undefined) return found
  if (!start) throw new SvcError('Unavailable', `no service runs here; \`${commandHint('up')}\` starts one`)
  try {
    const started = await startInBackground(configOf(options), options.config)
    return { client: createApiClient({ url: started.url, token: target.token ?? started.token }), started }
  } catch (error) {
    // Another command may have been faster.
    const other = await reachLocal(options, target)
    if (other !== undefined) return other
    throw error
  }
}

async function reachLocal(options: ServiceOptions, { token }: ServiceTarget): Promise<Connected | undefined> {
  const note = await awaitLocalService(configOf(options).paths, transitionTimeoutMs)
  return note && { client: createApiClient({ url: note.url, token: token ?? note.token }), note }
}

async function createNamed(server: string, { token }: ServiceTarget, options: ServiceOptions): Promise<Client> {
  const url = readAddress(server)
  const known = token ?? (await findKnownToken(url, options))
  if (known !== undefined) return createApiClient({ url, token: known })
  await requireReachable(url)
  const login = commandHint('login')
  throw new SvcError('InvalidRequest', `give a token for ${url} with --token or SVC_TOKEN, or log in with \`${login}\``)
}

/** Of a login, or of this machine's own service at this address. */
async function findKnownToken(url: string, options: ServiceOptions): Promise<string | undefined> {
  const login = await findLogin(url, options)
  if (login !== undefined) return login
  const note = await awaitLocalService(configOf(options).paths, 0)
  return note?.url === url ? note.token : undefined
}

/** What a command would use where it goes to; undefined when there is none. */
export async function findToken(options: ServiceOptions): Promise<string | undefined> {
  const { server, token } = resolveTarget(options)
  if (token !== undefined) return token
  if (server !== undefined) return findKnownToken(readAddress(server), options)
  return (await awaitLocalService(configOf(options).paths, transitionTimeoutMs))?.token
}

/** Where the tokens of `svc login` are stored. */
export function openLogins(options: ServiceOptions): LoginStore {
  return createLoginStore({ path: join(configOf(options).paths.configDir, 'logins.json'), write: writePrivateFile })
}

/** Where services that have a name are stored. */
export function openContexts(options: ServiceOptions): ContextStore {
  return createContextStore({ path: join(configOf(options).paths.configDir, 'contexts.json'), write: writePrivateFile })
}

/** The token of a login, renewed if necessary; the code that talks to issuers is loaded only then. */
async function findLogin(server: string, options: ServiceOptions): Promise<string | undefined> {
  return findLoginToken(server, {
    logins: openLogins(options),
    now: () => new Date(),
    refresh: async (login, now) => (await import('../client/login/issuer-client.ts')).refreshLogin(login, now),
  })
}

/** The service that a login is for. InvalidRequest when none is named. */
export function serverAddress(options: ServiceOptions): string {
  const { server } = resolveTarget(options)
  if (server !== undefined) return readAddress(server)
  throw new SvcError('InvalidRequest', 'name the service with --server, SVC_SERVER or a context')
}

/** The address without a slash at its end. InvalidRequest when it is not one. */
function readAddress(text: string): string {
  const url = /^https?:\/\//.test(text) && URL.canParse(text) ? new URL(text) : undefined
  if (!url) throw new SvcError('InvalidRequest', `\`${text}\` is not the address of a service; write http://HOST:PORT`)
  return trimTrailing(url.href, '/')
}

const startTimeoutMs = 30_000
const usualIdleExit = '15m'

/** Keeps glibc from holding on to large buffers that were freed: 230 MB resident instead of 310 after 10,000 tasks. */
const allocator = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '65536', MALLOC_TRIM_THRESHOLD_: '131072' }

export type BackgroundService = ServiceNote & { logFile: string; idleExit: string; wantedPort: number }

/** Unavailable, with the end of its log, when the service does not come up. */
export async function startInBackground(config: Config, configFile: string | undefined): Promise<BackgroundService> {
  const { dataDir, configDir } = config.paths
  prepareFolders(config)
  const idleExit = config.idleExit ?? usualIdleExit
  const logFile = join(dataDir, 'service.log')
  const scratch = mkdtempSync(join(tmpdir(), 'svc-start-'))
  const readyFile = join(scratch, 'ready.json')
  const folders = ['--data-dir', dataDir, '--config-dir', configDir]
  const more = configFile === undefined ? [] : ['--config', configFile]
  const args = ['up', '--idle-exit', idleExit, '--ready-file', readyFile, ...folders, ...more]
  const log = openSync(logFile, 'a', 0o600)
  const child = spawn(process.execPath, [...process.execArgv, launcherPath, ...args], {
    detached: true,
    stdio: ['ignore', log, log],
    env: { ...allocator, ...readEnvironment(), [startedByVariable]: 'command' },
  })
  closeSync(log)
  child.unref()
  try {
    const ready = await waitForFile(readyFile, () => child.exitCode !== null || child.signalCode !== null)
    if (ready) return { ...ready, pid: child.pid ?? 0, logFile, idleExit, wantedPort: config.port }
    child.kill('SIGKILL')
    throw new SvcError('Unavailable', `the service did not start; the end of ${logFile}:\n${readTail(logFile)}`)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

async function waitForFile(path: string, hasEnded: () => boolean): Promise<{ url: string; token: string } | undefined> {
  const deadline = performance.now() + startTimeoutMs
  while (performance.now() < deadline) {
    const ready = readServiceNote(path)
    if (ready) return ready
    if (hasEnded()) return undefined
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return undefined
}

function readTail(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-5).join('\n')
}
