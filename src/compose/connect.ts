// Finds the service that a command means: a named one, or the one that holds the data folder.

import type { GlobalOptions, StartedService } from '../cli/context.ts'
import { type Client, createClient } from '../client/client.ts'
import { readEnvironment } from '../config/environment.ts'
import { type Config, loadConfig } from '../config/load.ts'
import { SvcError } from '../errors.ts'
import { startInBackground } from './background.ts'
import { readServiceNote } from './service-file.ts'

/** The configuration as the options and the environment give it. */
export function configOf(options: GlobalOptions): Config {
  const env = readEnvironment()
  const file = options.config ?? env.SVC_CONFIG
  return loadConfig({ flags: options.settings, env, ...(file === undefined ? {} : { file }) })
}

export async function connect(options: GlobalOptions): Promise<Client> {
  const found = findService(options)
  if (found && (options.server !== undefined || (await isAlive(found.url)))) return createClient(found)
  throw new SvcError(
    'Unavailable',
    'no service runs here. Start one with `svc up`, or name one with --server and --token',
  )
}

export async function connectOrStart(options: GlobalOptions): Promise<{ client: Client; started?: StartedService }> {
  const found = findService(options)
  if (found && (isNamed(options) || (await isAlive(found.url)))) return { client: createClient(found) }
  const started = await startInBackground(configOf(options), options.config)
  return { client: createClient(started), started }
}

function isNamed(options: GlobalOptions): boolean {
  return (options.server ?? readEnvironment().SVC_SERVER) !== undefined
}

function findService(options: GlobalOptions): { url: string; token: string } | undefined {
  const env = readEnvironment()
  const url = options.server ?? env.SVC_SERVER
  const token = options.token ?? env.SVC_TOKEN
  const note = readServiceNote(configOf(options).paths.serviceFile)
  if (url === undefined) return note && { url: note.url, token: token ?? note.token }
  const known = token ?? (note?.url === url ? note.token : undefined)
  if (known === undefined) throw new SvcError('InvalidRequest', `give a token for ${url} with --token or SVC_TOKEN`)
  return { url, token: known }
}

/** Whether a service answers there. */
export async function isAlive(url: string): Promise<boolean> {
  try {
    return (await fetch(new URL('/healthz', url), { signal: AbortSignal.timeout(3000) })).ok
  } catch {
    return false
  }
}
