// The service of this machine’s data folder: whether one runs, which, how it ends, and how another takes its place.
import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../config/load.ts'
import type { Paths } from '../config/paths.ts'
import { SvcError } from '../errors.ts'
import { portOf } from '../lib/url-port.ts'
import type { Logger } from '../observability/log.ts'
import { findHolder } from '../store/local/leadership.ts'
import { requirePort } from './free-port.ts'
import { readServiceNote, type ServiceNote } from './service-file.ts'

/**
 * The note of the service that holds the data folder now. A note that a killed service left counts for nothing: what listens
 * at its address since may be anybody's, and is sent no token.
 */
export async function findLocalService({ dataDir, serviceFile }: Paths): Promise<ServiceNote | undefined> {
  const note = readServiceNote(serviceFile)
  if (note === undefined) return undefined
  return (await findHolder(dataDir))?.pid === note.pid ? note : undefined
}

/** The same, but while a service is starting or ending on the folder it is waited for. */
export async function awaitLocalService(paths: Paths, timeoutMs: number): Promise<ServiceNote | undefined> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const note = await findLocalService(paths)
    if (note !== undefined || performance.now() > deadline) return note
    if ((await findHolder(paths.dataDir)) === undefined) return undefined
    await pause(pollMs)
  }
}

const stopTimeoutMs = 30_000
const pollMs = 50

/** Asks it to end and waits until it has released the folder. Unavailable when it does not. */
export async function endLocalService({ dataDir }: Paths, { pid }: ServiceNote): Promise<void> {
  process.kill(pid, 'SIGTERM')
  const deadline = performance.now() + stopTimeoutMs
  while ((await findHolder(dataDir))?.pid === pid) {
    if (performance.now() > deadline) throw new SvcError('Unavailable', `the service (pid ${pid}) does not stop`)
    await pause(pollMs)
  }
}

/**
 * Whoever else holds the data folder keeps it: opening it says so. Rejects before the other has ended where the port that
 * was chosen is not to be had.
 */
export async function takeOver(config: Config, log: Logger): Promise<void> {
  const { mode, paths, port } = config
  if (mode !== 'embedded') return
  const note = await findLocalService(paths)
  if (note?.startedBy !== 'command') return
  if (portOf(new URL(note.url)) !== port) await requirePort(config)
  log.info({ pid: note.pid }, 'taking over from the service in the background; its tasks go on here')
  await endLocalService(paths, note)
}
