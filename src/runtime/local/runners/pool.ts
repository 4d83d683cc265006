// The runners of one machine: started by the first attempt that shares a process, and ended when they have nothing to do.
import { join } from 'node:path'
import type { WorkAssignment } from '../../../contract/api/tasks/assignment.ts'
import { type AttemptRef, formatAttempt } from '../../../contract/api/tasks/runners.ts'
import { messageOf } from '../../../errors.ts'
import type { Ids } from '../../../lib/clock.ts'
import { removeTree } from '../../../lib/tree-removal.ts'
import type { AttemptEnd } from '../../attempts/end.ts'
import { pickErrorLine } from '../../attempts/worker-end.ts'
import { watchAttempts } from '../../folders/attempts-watch.ts'
import { describeSize, type WorkspaceSize } from '../../folders/size.ts'
import type { RunningAttempt } from '../attempt.ts'
import { lost, RunnerLink } from './link.ts'
import type { RunnerEnd, RunnerLaunch, RunnerProcess } from './process.ts'
import type { RunnerTable } from './table.ts'

export type RunnerPoolOptions = {
  launch(runner: RunnerLaunch): Promise<RunnerProcess>
  table: RunnerTable
  ids: Ids
  /** Of the program. */
  version: string
  /** Prefix of the names of runners, and therefore of their folders and control groups. */
  prefix: string
  /** Runners at once. */
  count: number
  /** Attempts of one at once. */
  slots: number
  /** That one attempt may hold. */
  attemptBytes: number
  memoryBytes: number
  /** That the workspace of one attempt may hold. */
  size: WorkspaceSize
  idleMs?: number
  graceMs?: number
}

type Runner = {
  link: RunnerLink
  started: Promise<RunnerProcess>
  idle: NodeJS.Timeout | undefined
  /** Why it was ended, if it was. */
  silence: string | undefined
  /** Resolves when nothing of it is left. */
  gone: Promise<void>
}

export type RunnerState = {
  pid: number | undefined
  attempts: number
  /** Those among them that it has named itself. */
  known: number
  /** It takes nothing more. */
  isFull: boolean
  rssBytes: number | undefined
}

/** With fewer a second process only costs memory. */
const spreadAt = 32

export class RunnerPool {
  readonly #options: RunnerPoolOptions
  readonly #runners = new Set<Runner>()

  constructor(options: RunnerPoolOptions) {
    this.#options = options
  }

  start(assignment: WorkAssignment): RunningAttempt {
    const { ids, graceMs = 10_000 } = this.#options
    const { uid: taskUid, attempt } = assignment.task
    const key = { taskUid, attempt }
    const runner = this.#choose(assignment.api.url)
    const name = ids.hex(32)
    const ended = runner.link.assign({ key, assignment, folder: name })
    return {
      ended,
      terminate: async () => runner.link.stop({ key, reason: 'the attempt was told to stop', graceMs }),
      // Its token is not live any more, so nothing that it still does counts.
      kill: async () =>
        runner.link.finish(key, { ok: false, reason: 'Signal', message: 'The attempt did not end in time.' }),
      release: async () => {
        const process = await runner.started.catch(() => undefined)
        if (process !== undefined) await removeTree(join(process.folder, name))
      },
    }
  }

  async list(): Promise<RunnerState[]> {
    const all = [...this.#runners].map(async ({ link, started }) => {
      const process = await started.catch(() => undefined)
      const { rssBytes, attempts = [] } = link.last ?? {}
      const known = attempts.filter((key) => link.has(key)).length
      return { pid: process?.pid, attempts: link.size, known, isFull: link.room === 0, rssBytes }
    })
    return Promise.all(all)
  }

  async close(): Promise<void> {
    const all = [...this.#runners]
    for (const runner of all) this.#end(runner)
    await Promise.all(all.map(({ gone }) => gone))
  }

  /** The one with the fewest attempts, or a new one while they have many. */
  #choose(url: string): Runner {
    const usable = [...this.#runners].filter(({ link }) => link.room > 0)
    const [next] = usable.toSorted((a, b) => a.link.size - b.link.size)
    if (next !== undefined && (next.link.size < spreadAt || usable.length >= this.#options.count)) return next
    return this.#launch(url)
  }

  #launch(url: string): Runner {
    const { ids, prefix, version, slots, attemptBytes, memoryBytes, table } = this.#options
    const [name, token] = [ids.next(prefix), ids.hex(64)]
    const link = new RunnerLink({
      name,
      credential: token,
      slots,
      onSilent: (why) => {
        runner.silence ??= why
        void started.then(({ kill }) => kill()).catch(() => undefined)
      },
      onIdle: (isIdle) => this.#noteIdle(runner, isIdle),
    })
    const started = this.#options.launch({ name, url, token, version, slots, attemptBytes, memoryBytes })
    const remove = table.add(link)
    const runner: Runner = { link, started, idle: undefined, silence: undefined, gone: Promise.resolve() }
    this.#runners.add(runner)
    runner.gone = this.#follow(runner).finally(remove)
    return runner
  }

  async #follow(runner: Runner): Promise<void> {
    const { link, started } = runner
    const { size } = this.#options
    try {
      const { ended, folder } = await started
      link.root = folder
      const watch = watchAttempts({ root: folder, size, onOver: (name) => link.fillUp(name, describeFull(size)) })
      const end = await ended.finally(watch.stop)
      this.#runners.delete(runner)
      link.lose(describeLoss(runner, end))
      await removeTree(folder).catch(() => undefined)
    } catch (error) {
      this.#runners.delete(runner)
      link.lose(() => failStart(messageOf(error)))
    } finally {
      clearTimeout(runner.idle)
    }
  }

  #noteIdle(runner: Runner, isIdle: boolean): void {
    clearTimeout(runner.idle)
    runner.idle = isIdle
      ? setTimeout(() => this.#end(runner), runner.link.room === 0 ? 0 : (this.#options.idleMs ?? 60_000)).unref()
      : undefined
  }

  /** It is given nothing more. */
  #end(runner: Runner): void {
    runner.link.retire()
    void runner.started.then(({ release }) => release()).catch(() => undefined)
  }
}

function describeFull(size: WorkspaceSize): string {
  const advice = 'Write less, or raise resources.limits["ephemeral-storage"].'
  return `The attempt was ended: it wrote more than ${describeSize(size)} in its workspace. ${advice}`
}

function failStart(message: string): AttemptEnd {
  return { ok: false, reason: 'StartFailed', message: `The runner could not be started: ${message}` }
}

function describeEnd({ exit, wasOutOfMemory, tail }: RunnerEnd): string {
  if (wasOutOfMemory) return 'it ran out of memory'
  if (exit.signal !== null) return `it was ended by ${exit.signal}`
  return `it ended with exit code ${exit.code}${tail === '' ? '' : `: ${pickErrorLine(tail)}`}`
}

/** Below it nobody is asked why the memory of all has run out. */
const suspiciousBytes = 4 * 1024 * 1024

/** Where memory ran out, the step that began last may only have asked for the last of it. */
function listSuspects(link: RunnerLink, { lastStep, wasOutOfMemory }: RunnerEnd): Set<string> {
  const { attempts = [] } = link.last ?? {}
  const large = wasOutOfMemory ? attempts.filter(({ bytes }) => bytes > suspiciousBytes) : []
  const [biggest] = large.toSorted((a, b) => b.bytes - a.bytes)
  return new Set([lastStep, ...(biggest === undefined ? [] : [formatAttempt(biggest)])])
}

function describeLoss({ link, silence }: Runner, end: RunnerEnd): (attempt: { key: AttemptRef }) => AttemptEnd {
  const what = silence ?? describeEnd(end)
  if (!link.hasRegistered) return () => failStart(end.exit.startError ?? what)
  const suspects = listSuspects(link, end)
  return ({ key }) => {
    // Where no step has begun, nobody is known to be innocent.
    const isSuspect = end.lastStep === '' || suspects.has(formatAttempt(key))
    const next = isSuspect ? 'the next attempt has a process of its own' : 'another attempt goes on'
    return lost(isSuspect, `the process that the attempt shared is gone (${what}); ${next}`)
  }
}
