// Embedded mode has one process per data folder: it leads while it holds the folder's lock file.
import { createHash, randomUUID } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { SvcError } from '../../errors.ts'
import { hasCode } from '../../lib/error-code.ts'
import { tryParseJson } from '../../lib/json.ts'
import { isUnreaped, readStartTime } from '../../lib/process-stat.ts'
import type { Leadership } from '../../ports/service/leadership.ts'

export type EmbeddedLeadershipOptions = {
  dataDir: string
  /** Recorded in the lock; this process and this start of the machine unless a test says otherwise. */
  pid?: number
  boot?: string
}

const lockName = 'service.lock'

/** Without `boot` it was written by an earlier release, or where the system has no such id: times of start are dates there. */
type Holder = { pid: number; boot?: string | undefined; startTime: string | undefined }

/** The id of this start of the machine, which its name may change under (random(4)); undefined where there is none. */
async function readBootId(): Promise<string | undefined> {
  const text = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '')
  return text.trim() || undefined
}

function parseHolder(text: string): Holder | undefined {
  return (tryParseJson(text) as Holder | null | undefined) ?? undefined
}

/** A pid of another start of the machine, or of a container that was replaced, is that of another process if it is any. */
async function isAlive(holder: Holder | undefined, boot: string | undefined): Promise<boolean> {
  if (holder === undefined || (holder.boot ?? boot) !== boot) return false
  const startTime = await readStartTime(holder.pid)
  return startTime !== undefined && startTime === holder.startTime && !(await isUnreaped(holder.pid))
}

/** The process that holds the data folder now; undefined when none does. */
export async function findHolder(dataDir: string): Promise<{ pid: number } | undefined> {
  const holder = parseHolder(await readFile(join(dataDir, lockName), 'utf8').catch(() => ''))
  return (await isAlive(holder, await readBootId())) ? holder : undefined
}

/** Creates the lock with its content in one step; false when it exists. */
async function placeLock(file: string, content: string): Promise<boolean> {
  const draft = `${file}.${randomUUID()}.new`
  await writeFile(draft, content, { mode: 0o600 })
  try {
    await link(draft, file)
    return true
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
    return false
  } finally {
    await rm(draft, { force: true })
  }
}

/** Where another process may be in the middle of taking it over: how often it is looked at again, and how long after. */
const maxRounds = 1000
const pauseMs = 2

const readLock = (file: string) =>
  readFile(file, 'utf8').catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error
    return undefined
  })

/**
 * Removes what a process that is gone has left. Whoever does so holds a lock that is named after it, so that nobody removes what
 * another one has put there since it was read; that lock is taken over as any other where its holder ends in between.
 */
async function removeStale(file: string, stale: string, self: Holder): Promise<void> {
  const guard = `${file}.${createHash('sha256').update(stale).digest('hex').slice(0, 16)}`
  if ((await takeLock(guard, self)) !== undefined) return void (await sleep(pauseMs))
  try {
    if ((await readLock(file)) === stale) await rm(file)
  } finally {
    await rm(guard, { force: true })
  }
}

/** The living process that holds it; undefined: it is taken. */
async function takeLock(file: string, self: Holder): Promise<Holder | undefined> {
  for (let round = 0; round < maxRounds; round++) {
    if (await placeLock(file, JSON.stringify(self))) return undefined
    const text = await readLock(file)
    if (text === undefined) continue
    const holder = parseHolder(text)
    if (await isAlive(holder, self.boot)) return holder
    await removeStale(file, text, self)
  }
  throw new SvcError(
    'Conflict',
    `The lock file ${file} could not be taken: other services are starting on this folder.`,
  )
}

async function lockFolder(file: string, self: Holder): Promise<void> {
  const holder = await takeLock(file, self)
  if (holder === undefined) return
  const words = `is in use by another service (pid ${holder.pid}). Stop that one, or choose another folder with --data-dir.`
  throw new SvcError('Conflict', `The data folder ${dirname(file)} ${words}`)
}

/** `acquire` fails with Conflict, naming the pid, when another service uses the data folder. */
export function createEmbeddedLeadership(options: EmbeddedLeadershipOptions): Leadership {
  const file = join(options.dataDir, lockName)
  const pid = options.pid ?? process.pid
  let term: AbortController | undefined
  let acquiring: Promise<AbortSignal> | undefined

  const acquire = async (): Promise<AbortSignal> => {
    await mkdir(options.dataDir, { recursive: true, mode: 0o700 })
    const boot = options.boot ?? (await readBootId())
    await lockFolder(file, { pid, boot, startTime: await readStartTime(pid) })
    term = new AbortController()
    return term.signal
  }
  return {
    acquire: async (signal) => {
      signal.throwIfAborted()
      acquiring ??= acquire()
      try {
        return await acquiring
      } catch (error) {
        acquiring = undefined
        throw error
      }
    },
    requireTerm: () => {
      if (term === undefined)
        throw new SvcError('Unavailable', 'this process does not hold the lock of its data folder')
    },
    release: async () => {
      if (term === undefined) return
      term.abort(new Error('The lock of the data folder was given up.'))
      term = undefined
      acquiring = undefined
      await rm(file, { force: true })
    },
  }
}
