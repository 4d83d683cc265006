// Finds the service that a command means: a named one, or the one that holds the data folder.
import { join } from 'node:path'
import { isUnreaped } from '../adapters/embedded/confinement/process-record.ts'
import type { GlobalOptions, StartedService } from '../cli/context.ts'
import { findLoginToken } from '../cli/login/current-token.ts'
import { createKeptLogins, type KeptLogins } from '../cli/login/kept-logins.ts'
import { typed } from '../cli/typed.ts'
import { type Client, createClient } from '../client/client.ts'
import { readEnvironment } from '../config/environment.ts'
import { type Config, loadConfig } from '../config/load.ts'
import { SvcError } from '../errors.ts'
import { startInBackground } from './background.ts'
import { readServiceNote, writePrivateFile } from './service-file.ts'

/** The configuration as the options and the environment give it. */
export function configOf(options: GlobalOptions): Config {
  const env = readEnvironment()
  const file = options.config ?? env.SVC_CONFIG
  return loadConfig({ flags: options.settings, env, ...(file === undefined ? {} : { file }) })
}

export async function connect(options: GlobalOptions): Promise<Client> {
  const found = await findService(options)
  if (found && (found.pid === undefined || (await isRunning(found.pid)))) return createClient(found)
  throw new SvcError(
    'Unavailable',
    `no service runs here. Start one with \`${typed('up')}\`, or name one with --server and --token`,
  )
}

export async function connectOrStart(options: GlobalOptions): Promise<{ client: Client; started?: StartedService }> {
  const found = await findService(options)
  if (found && (found.pid === undefined || (await isAlive(found.url)))) return { client: createClient(found) }
  const started = await startInBackground(configOf(options), options.config)
  return { client: createClient(started), started }
}

type FoundService = {
  url: string
  token: string
  /** Of the service of this data folder; undefined for one that was named. */
  pid: number | undefined
}

async function findService(options: GlobalOptions): Promise<FoundService | undefined> {
  const env = readEnvironment()
  const named = options.server ?? (env.SVC_SERVER || undefined)
  const token = options.token ?? (env.SVC_TOKEN || undefined)
  const note = readServiceNote(configOf(options).paths.serviceFile)
  if (named === undefined) return note && { url: note.url, token: token ?? note.token, pid: note.pid }
  const url = readAddress(named)
  const known = token ?? (await findLogin(url, options)) ?? (note?.url === url ? note.token : undefined)
  if (known === undefined) {
    throw new SvcError(
      'InvalidRequest',
      `give a token for ${url} with --token or SVC_TOKEN, or log in with \`${typed('login')}\``,
    )
  }
  return { url, token: known, pid: undefined }
}

/** Where the tokens of `svc login` are kept. */
export function keptLogins(options: GlobalOptions): KeptLogins {
  return createKeptLogins({ path: join(configOf(options).paths.configDir, 'logins.json'), write: writePrivateFile })
}

/** The token of a login, renewed where needed; what talks to issuers is loaded only then. */
async function findLogin(server: string, options: GlobalOptions): Promise<string | undefined> {
  return findLoginToken(server, {
    logins: keptLogins(options),
    now: () => new Date(),
    refresh: async (login, now) => (await import('../cli/login/issuer-client.ts')).refreshLogin(login, now),
  })
}

/** The service that a login is for. InvalidRequest when none is named. */
export function serverAddress(options: GlobalOptions): string {
  const named = options.server ?? (readEnvironment().SVC_SERVER || undefined)
  if (named === undefined) throw new SvcError('InvalidRequest', 'name the service with --server or SVC_SERVER')
  return readAddress(named)
}

/** The address without a slash at its end. InvalidRequest when it is none. */
function readAddress(text: string): string {
  const url = /^https?:\/\//.test(text) && URL.canParse(text) ? new URL(text) : undefined
  if (!url) throw new SvcError('InvalidRequest', `\`${text}\` is no address of a service; write http://HOST:PORT`)
  return url.href.replace(/\/+$/, '')
}

/** Whether the process runs, whosever it is; one that has ended and was not reaped does not. */
export async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0)
    return !(await isUnreaped(pid))
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Whether a service answers there. */
export async function isAlive(url: string): Promise<boolean> {
  try {
    return (await fetch(new URL('/healthz', url), { signal: AbortSignal.timeout(3000) })).ok
  } catch {
    return false
  }
}
