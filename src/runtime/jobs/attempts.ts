// What is known about each attempt: its Job, its pod, who follows its log, the last reported state.
import type { OutputTail } from '../../lib/output-tail.ts'
import type { AttemptCheckout, AttemptKey, WorkloadSpec, WorkloadState } from '../../ports/tasks/workloads.ts'
import type { LogFollower } from './log-follower.ts'
import type { StoredLogPosition } from './log-intake.ts'
import type { ClusterObject, Job, Pod } from './objects.ts'
import { type AttemptNames, readAttempt } from './objects.ts'

export type AttemptOutput = {
  tail: OutputTail
  follower: LogFollower
  isDone: boolean
  /** When the attempt was first seen to have ended, its log not yet read. */
  endSeenAt?: Date
}

export type Attempt = AttemptNames & {
  job: Job | undefined
  pods: Map<string, Pod>
  /** It was held by its queue, and had no pod since. */
  isUnbegun: boolean
  /** It has a Secret. */
  hasSecret: boolean
  /** It was started or observed here: this replica follows its log. */
  isFollowed: boolean
  /** Resolves to the values that its log must not show, once they are known. */
  secrets: Promise<string[]> | undefined
  /** Its secrets are being read; then its log is followed. */
  isSeekingLog: boolean
  output: AttemptOutput | undefined
  /** Where its log begins in the store, when lines of the service stand before it. */
  logStart: StoredLogPosition | undefined
  /** Of an attempt in a git repository. */
  folder: AttemptFolder | undefined
  /** When to look at it again even without a report. */
  alarm: AbortController | undefined
  /** Called whenever something about it has changed. */
  watchers: Set<() => void>
  /** The state last reported to listeners, in short. */
  published: string
}

export function nameAttempt({ taskUid, attempt }: AttemptKey): string {
  return `${taskUid}/${attempt}`
}

export type AttemptTable = {
  find(key: AttemptKey): Attempt | undefined
  /** The entry of a spec, created when missing. */
  enter(names: Pick<WorkloadSpec, 'key' | 'namespace' | 'taskName'>): Attempt
  /** The entry of an object, created when missing; undefined when the object belongs to no attempt. */
  enterObject(object: ClusterObject): Attempt | undefined
  all(): Attempt[]
  remove(attempt: Attempt): void
}

export function createAttemptTable(): AttemptTable {
  const attempts = new Map<string, Attempt>()
  const enter: AttemptTable['enter'] = ({ key, namespace, taskName }) => {
    const known = attempts.get(nameAttempt(key))
    if (known !== undefined) return known
    const attempt: Attempt = {
      key,
      namespace,
      taskName,
      job: undefined,
      pods: new Map(),
      isUnbegun: false,
      hasSecret: false,
      isFollowed: false,
      secrets: undefined,
      isSeekingLog: false,
      output: undefined,
      logStart: undefined,
      folder: undefined,
      alarm: undefined,
      watchers: new Set(),
      published: '',
    }
    attempts.set(nameAttempt(key), attempt)
    return attempt
  }
  return {
    find: (key) => attempts.get(nameAttempt(key)),
    enter,
    enterObject(object) {
      const names = readAttempt(object.metadata)
      return names === undefined ? undefined : enter(names)
    },
    all: () => [...attempts.values()],
    remove: (attempt) => void attempts.delete(nameAttempt(attempt.key)),
  }
}

/** The pod that counts: a Job creates one, and another only when the first was lost without a trace. */
export function podOf(attempt: Attempt): Pod | undefined {
  const found = [...attempt.pods.values()]
  return found.sort((a, b) => b.metadata.creationTimestamp.localeCompare(a.metadata.creationTimestamp))[0]
}

/** Two states that listeners need not distinguish have the same text. */
export function summarizeState(state: WorkloadState): string {
  return state.phase === 'Pending' ? `Pending ${state.message ?? ''}` : state.phase
}

/** What is known here of the checkout of one attempt. */
type AttemptFolder = {
  checkout: AttemptCheckout | undefined
  /** The commit that was checked out. */
  base: string | undefined
  /** The pod has its files. */
  isFilled: boolean
  work: Promise<void> | undefined
  /** Its program has ended, and what it changed is being kept. */
  isKeeping: boolean
  ending: AbortController
  /** Decided: the attempt is reported to be in it from then on. */
  end: WorkloadState | undefined
}

/** Of an attempt in a git repository. */
export function openAttemptFolder(attempt: { folder: AttemptFolder | undefined }): AttemptFolder {
  attempt.folder ??= {
    checkout: undefined,
    base: undefined,
    isFilled: false,
    work: undefined,
    isKeeping: false,
    ending: new AbortController(),
    end: undefined,
  }
  return attempt.folder
}
