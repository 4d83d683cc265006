// One runner as the service knows it: its lease, its orders, and the attempts that it was given.
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, type Readable } from 'node:stream'
import type { EndSubmit } from '../../../contract/api/tasks/attempt-end.ts'
import {
  type AttemptRef,
  formatAttempt,
  type RunnerOrder,
  type RunnerRegistration,
  type RunnerRenewal,
  runnerLimits,
} from '../../../contract/api/tasks/runners.ts'
import { readRunFailure } from '../../../contract/kinds/tasks/failures.ts'
import type { AttemptEnd } from '../../attempts/end.ts'

type Order<T extends RunnerOrder['type']> = Extract<RunnerOrder, { type: T }>

type Attempt = {
  key: AttemptRef
  folder: string
  /** That it holds, as its runner said last. */
  bytes: number
  /** Renewals in a row that did not name it. */
  unnamed: number
  end(end: AttemptEnd): void
}

export type RunnerLinkOptions = {
  /** Name of its process, before it is registered and after. */
  name: string
  credential: string
  /** Attempts at once, until it says how many. */
  slots: number
  /** Its lease has ended, or its event loop stands still for as long. */
  onSilent(why: string): void
  /** It has nothing to do, or has something again. */
  onIdle(isIdle: boolean): void
}

/** Until it has registered. */
const startMs = 60_000
/** An attempt that its runner does not name so often is lost: its order did not arrive, or its end. */
const maxUnnamed = 3

const staleMs = 1000

/** What an attempt's own word means for it. */
function judgeEnd(end: EndSubmit): AttemptEnd {
  if (end.ok) return { ok: true }
  const cause = readRunFailure(end.reason)
  return { ok: false, reason: 'ExitCode', ...(cause && { cause }), message: end.message, exitCode: 1 }
}

export class RunnerLink {
  readonly #options: RunnerLinkOptions
  readonly #attempts = new Map<string, Attempt>()
  /** Orders that nobody has read yet. */
  #orders: string[] = []
  #work: PassThrough | undefined
  #slots: number
  #attemptBytes = Number.POSITIVE_INFINITY
  #lease: NodeJS.Timeout
  #quiet: NodeJS.Timeout | undefined
  #isLost = false
  id: string | undefined
  /** Its folder on this machine, in which those of its attempts are. */
  root: string | undefined
  /** What it said last of how it is. */
  last: RunnerRenewal | undefined

  constructor(options: RunnerLinkOptions) {
    this.#options = options
    this.#slots = options.slots
    this.#lease = this.#startLease(startMs)
  }

  get name(): string {
    return this.#options.name
  }

  get credential(): string {
    return this.#options.credential
  }

  get size(): number {
    return this.#attempts.size
  }

  /** How many more attempts it may be given. */
  get room(): number {
    return this.#isLost ? 0 : Math.max(0, this.#slots - this.#attempts.size)
  }

  get hasRegistered(): boolean {
    return this.id !== undefined
  }

  has(key: AttemptRef): boolean {
    return this.#attempts.has(formatAttempt(key))
  }

  /** Where an attempt keeps its files on this machine; undefined before it has any. */
  folderOf(key: AttemptRef): string | undefined {
    const folder = this.#attempts.get(formatAttempt(key))?.folder
    if (folder === undefined || this.root === undefined) return undefined
    const path = join(this.root, folder)
    return isReal(path) ? path : undefined
  }

  /** Ends the attempt whose folder that is. */
  fillUp(folder: string, message: string): void {
    const found = [...this.#attempts.values()].find((attempt) => attempt.folder === folder)
    if (found === undefined) return
    this.stop({ key: found.key, reason: message, graceMs: 0 })
    this.finish(found.key, { ok: false, reason: 'DiskFull', message })
  }

  /** Resolves with its end. */
  assign({ key, assignment, folder }: Omit<Order<'assign'>, 'type'> & { folder: string }): Promise<AttemptEnd> {
    const { promise, resolve } = Promise.withResolvers<AttemptEnd>()
    if (this.#attempts.size === 0) this.#options.onIdle(false)
    this.#attempts.set(formatAttempt(key), { key, folder, bytes: 0, unnamed: 0, end: resolve })
    this.#order({ type: 'assign', key, assignment, folder })
    return promise
  }

  stop(order: Omit<Order<'stop'>, 'type'>): void {
    if (this.#attempts.has(formatAttempt(order.key))) this.#order({ type: 'stop', ...order })
  }

  /** Ends an attempt here, whatever its runner still does of it. */
  finish(key: AttemptRef, end: AttemptEnd): void {
    const name = formatAttempt(key)
    const attempt = this.#attempts.get(name)
    if (attempt === undefined) return
    this.#attempts.delete(name)
    attempt.end(end)
    if (this.#attempts.size === 0) this.#options.onIdle(true)
  }

  /** An attempt has said how it ended. */
  hear(key: AttemptRef, end: EndSubmit): void {
    this.finish(key, judgeEnd(end))
  }

  register(id: string, { slots, attemptBytes }: RunnerRegistration): void {
    this.id = id
    this.#slots = slots
    this.#attemptBytes = attemptBytes
    this.#renewLease()
  }

  /** A second reader ends the first. */
  openWork(): Readable {
    this.#work?.end()
    clearInterval(this.#quiet)
    const work = new PassThrough()
    this.#work = work
    for (const line of this.#orders.splice(0)) work.write(line)
    const quiet = setInterval(() => work.write('\n'), runnerLimits.quietMs)
    this.#quiet = quiet.unref()
    work.once('close', () => {
      clearInterval(quiet)
      if (this.#work === work) this.#work = undefined
    })
    return work
  }

  /** The attempts that it holds and that count no longer. */
  renew(renewal: RunnerRenewal): AttemptRef[] {
    this.last = renewal
    this.#slots = renewal.slots
    this.#renewLease()
    const named = new Map(renewal.attempts.map((attempt) => [formatAttempt(attempt), attempt]))
    // What an event loop that stands still says of its attempts is old.
    if (renewal.lagMs < staleMs)
      for (const [name, attempt] of this.#attempts) this.#note(attempt, named.get(name)?.bytes)
    if (renewal.lagMs >= runnerLimits.leaseMs) this.#options.onSilent('it did one thing for too long')
    return [...named].flatMap(([name, { taskUid, attempt }]) =>
      this.#attempts.has(name) ? [] : [{ taskUid, attempt }],
    )
  }

  #note(attempt: Attempt, bytes: number | undefined): void {
    attempt.unnamed = bytes === undefined ? attempt.unnamed + 1 : 0
    attempt.bytes = bytes ?? attempt.bytes
    if (attempt.unnamed >= maxUnnamed) this.finish(attempt.key, lost(false, 'its runner does not know it'))
    else if (attempt.bytes > this.#attemptBytes) this.#putOut(attempt)
  }

  /** It goes on in a process of its own, from what it has saved. */
  #putOut({ key, bytes }: Attempt): void {
    const mebibytes = Math.round(bytes / 1024 ** 2)
    const message = `it holds ${mebibytes} MiB, more than an attempt may that shares a process`
    this.stop({ key, reason: message, graceMs: 0 })
    this.finish(key, lost(true, message))
  }

  /** Gives it nothing more; it ends when it has nothing left. */
  retire(): void {
    this.#slots = 0
    this.#order({ type: 'retire' })
  }

  /** It is gone: each attempt ends as `describe` says. */
  lose(describe: (attempt: { key: AttemptRef; bytes: number }) => AttemptEnd): void {
    this.#isLost = true
    clearTimeout(this.#lease)
    this.#work?.end()
    for (const attempt of [...this.#attempts.values()]) this.finish(attempt.key, describe(attempt))
  }

  #order(order: RunnerOrder): void {
    const line = `${JSON.stringify(order)}\n`
    if (this.#work === undefined) this.#orders.push(line)
    else this.#work.write(line)
  }

  #renewLease(): void {
    clearTimeout(this.#lease)
    this.#lease = this.#startLease(runnerLimits.leaseMs + runnerLimits.graceMs)
  }

  #startLease(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#options.onSilent('it said nothing for too long'), ms).unref()
  }
}

/** A runner could put a link there, of which nobody may see the other end. */
function isReal(path: string): boolean {
  try {
    return realpathSync(path) === path
  } catch {
    return false
  }
}

/** Lost with the process that it shared: nothing of it counts against the task. */
export function lost(isSuspect: boolean, message: string): AttemptEnd {
  return { ok: false, reason: 'Stopped', message, loss: isSuspect ? 'suspect' : 'bystander' }
}
