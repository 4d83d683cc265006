// The attempts of one runner: each runs by itself, with a signal, a folder and a log of its own, and ends without any other.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { WorkAssignment } from '../../contract/api/tasks/assignment.ts'
import { type AttemptRef, formatAttempt, type RunnerOrder } from '../../contract/api/tasks/runners.ts'
import { messageOf } from '../../errors.ts'
import { removeTree } from '../../lib/tree-removal.ts'
import type { WorkerDeps } from '../deps.ts'
import { type AttemptOutcome, failRun } from '../outcome.ts'
import type { RunAssignment } from '../run-assignment.ts'
import { noteSteps, type StepRecord } from './steps.ts'

type Order<T extends RunnerOrder['type']> = Extract<RunnerOrder, { type: T }>

/** What attempts share. They have no sandbox and no programs: the service runs code, where it sees one folder. */
export type SharedDeps = Omit<
  WorkerDeps,
  'workspaceRoot' | 'openWorkspace' | 'hasWorkspace' | 'noteHeld' | 'noteEnd' | 'keepUnsent' | 'sandbox' | 'programs'
>

/** With whose word an attempt says how it ended: in every version an assignment has these. */
const Connection = z.object({
  api: WorkAssignment.shape.api,
  task: WorkAssignment.shape.task.pick({ namespace: true, name: true }),
})
type Connection = z.infer<typeof Connection>

/** What came of an attempt of which the service has not heard. */
export type EndedAttempt = {
  key: AttemptRef
  /** Undefined: nothing could be read of its assignment. */
  connection: Connection | undefined
  outcome: AttemptOutcome
}

export type RunnerAttemptsOptions = {
  deps: SharedDeps
  /** Where the folders of attempts are made. */
  root: string
  run: RunAssignment
  steps: Pick<StepRecord, 'begin' | 'last'>
  /** Called only where the run has not handed in its end itself. */
  onEnd(end: EndedAttempt): void
  /** A folder that could not be removed; nothing waits for it. */
  onLeftFolder(message: string): void
}

type Entry = {
  key: AttemptRef
  /** As text; empty once it is handed over, because it holds prompts and keys. */
  assignment: string
  connection: Connection | undefined
  /** Of its assignment, and of the conversation that begins with that. */
  bytes: number
  stopping: AbortController
  hasWorkspace: boolean
  hasHandedIn: boolean
}

function takeAssignment(entry: Entry): string {
  const { assignment } = entry
  entry.assignment = ''
  return assignment
}

export class RunnerAttempts {
  readonly #options: RunnerAttemptsOptions
  readonly #entries = new Map<string, Entry>()
  /** Told to stop, and still running after the time that they had: nothing they do counts. */
  readonly #overdue = new Set<Entry>()
  /** Of live and overdue attempts. */
  readonly #work = new Set<Promise<void>>()

  constructor(options: RunnerAttemptsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#entries.size
  }

  /** A runner that has any should take no more: what they hold is only given back with its process. */
  get overdue(): number {
    return this.#overdue.size
  }

  /** Whose step began last, if it still runs. */
  get current(): AttemptRef | undefined {
    return this.#entries.get(this.#options.steps.last)?.key
  }

  list(): (AttemptRef & { bytes: number })[] {
    return [...this.#entries.values()].map(({ key, bytes }) => ({ ...key, bytes }))
  }

  /** An attempt that runs already is not begun again. */
  begin({ key, assignment: value, folder = this.#options.deps.ids.hex(32) }: Order<'assign'>): void {
    const name = formatAttempt(key)
    if (this.#entries.has(name)) return
    const assignment = JSON.stringify(value)
    const bytes = Buffer.byteLength(assignment)
    const connection = Connection.safeParse(value).data
    const stopping = new AbortController()
    const entry = { key, assignment, connection, bytes, stopping, hasWorkspace: false, hasHandedIn: false }
    this.#entries.set(name, entry)
    const work = this.#follow(entry, join(this.#options.root, folder)).finally(() => this.#work.delete(work))
    this.#work.add(work)
  }

  /** Its end is reported if it comes in time. */
  stop({ key, reason, graceMs }: Order<'stop'>): void {
    const entry = this.#entries.get(formatAttempt(key))
    if (entry === undefined) return
    entry.stopping.abort(new Error(reason))
    const forget = () => this.#forget(entry)
    void this.#options.deps.clock.sleep(graceMs).then(forget)
  }

  /** Attempts that are not live any more: their ends are not reported. */
  drop(keys: readonly AttemptRef[]): void {
    for (const key of keys) {
      const entry = this.#entries.get(formatAttempt(key))
      if (entry === undefined) continue
      this.#forget(entry)
      entry.stopping.abort(new Error('the attempt is not live any more'))
    }
  }

  /** Ends all of them, and resolves when nothing of them is left. */
  async close(reason: string): Promise<void> {
    for (const { stopping } of this.#entries.values()) stopping.abort(new Error(reason))
    await this.settle()
  }

  /** Resolves when every attempt that was begun has ended, overdue ones too, and nothing of them is left. */
  async settle(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(this.#work)
  }

  #forget(entry: Entry): void {
    if (!this.#isLive(entry)) return
    this.#entries.delete(formatAttempt(entry.key))
    this.#overdue.add(entry)
  }

  /** The same attempt may have been assigned once more. */
  #isLive(entry: Entry): boolean {
    return this.#entries.get(formatAttempt(entry.key)) === entry
  }

  async #follow(entry: Entry, workspaceRoot: string): Promise<void> {
    const outcome = await this.#run(entry, workspaceRoot)
    this.#overdue.delete(entry)
    if (!this.#isLive(entry)) return
    this.#entries.delete(formatAttempt(entry.key))
    const { key, connection, hasHandedIn } = entry
    if (!hasHandedIn) this.#options.onEnd({ key, connection, outcome })
  }

  /** Nothing of the attempt is left when it resolves. */
  async #run(entry: Entry, workspaceRoot: string): Promise<AttemptOutcome> {
    try {
      const deps = this.#depsOf(entry, workspaceRoot)
      this.#options.steps.begin(formatAttempt(entry.key))
      return await this.#options.run(takeAssignment(entry), deps, entry.stopping.signal)
    } catch (error) {
      return failRun('Internal', `The runner broke: ${messageOf(error)}`)
    } finally {
      if (entry.hasWorkspace) await this.#removeWorkspace(workspaceRoot)
    }
  }

  async #removeWorkspace(folder: string): Promise<void> {
    await removeTree(folder).catch((error: unknown) => this.#options.onLeftFolder(messageOf(error)))
  }

  #depsOf(entry: Entry, workspaceRoot: string): WorkerDeps {
    const name = formatAttempt(entry.key)
    const deps = noteSteps(this.#options.deps, () => this.#options.steps.begin(name))
    const noteHeld = (bytes: number) => {
      entry.bytes += bytes
    }
    const noteEnd = () => {
      entry.hasHandedIn = true
    }
    const openWorkspace = async () => {
      entry.hasWorkspace = true
      await mkdir(workspaceRoot, { recursive: true, mode: 0o700 })
    }
    return { ...deps, workspaceRoot, openWorkspace, hasWorkspace: () => entry.hasWorkspace, noteHeld, noteEnd }
  }
}
