// Logs and timeline of a task, for callers who may see it: what is there, or followed live.
import { hasAttempt, isTerminalPhase, type Task } from '../../contract/kinds/tasks/task.ts'
import { SvcError } from '../../errors.ts'
import { createAlarm } from '../../lib/alarm.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import type { EventRecord } from '../../ports/tasks/events.ts'
import type { LogLine, LogQuery, Logs } from '../../ports/tasks/outputs.ts'
import type { StepQuery, TracedStep } from '../../ports/tasks/steps.ts'
import type { ResourceUsecases } from '../resources/resources.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { createStepReader, endStep } from './step-reader.ts'
import type { TaskChanges } from './task-changes.ts'

/** More of the line after number `seq`, from `offset` on in its text. */
export type LinePart = { seq: number; offset: number; part: string }

type LogChoice = Omit<LogQuery, 'afterSeq'>

type TraceQuery = Omit<StepQuery, 'taskUid'>

export type TaskStreams = {
  /** NotFound while the task is pending and nothing was written. */
  logs(caller: Caller, key: ResourceKey, choice: LogChoice): Promise<AsyncIterable<LogLine>>
  /** Lines as they come, and each in parts before it is whole. `tailLines` bounds what is there already. */
  followLogs(
    caller: Caller,
    key: ResourceKey,
    options: LogChoice & { afterSeq: number | undefined },
  ): Promise<(signal: AbortSignal) => AsyncGenerator<LogLine | LinePart>>
  /** Newest first, those before `beforeSeq`. */
  events(caller: Caller, key: ResourceKey, page: { beforeSeq?: number; limit: number }): Promise<EventRecord[]>
  /** Steps in the order of their last change. */
  trace(caller: Caller, key: ResourceKey, query: TraceQuery): Promise<TracedStep[]>
  followTrace(
    caller: Caller,
    key: ResourceKey,
    query: Omit<TraceQuery, 'limit'>,
  ): Promise<(signal: AbortSignal) => AsyncGenerator<TracedStep>>
  followEvents(
    caller: Caller,
    key: ResourceKey,
    afterSeq: number,
  ): Promise<(signal: AbortSignal) => AsyncGenerator<EventRecord>>
}

async function* iterate<T>(first: IteratorResult<T>, rest: AsyncIterator<T>): AsyncGenerator<T> {
  try {
    for (let step = first; !step.done; step = await rest.next()) yield step.value
  } finally {
    await rest.return?.()
  }
}

/** Reads on where it was left, the line that is being written too. */
function createLogReader(logs: Logs, uid: string, { tailLines, ...choice }: LogChoice) {
  let tail = tailLines
  let published = ''
  /** Lines up to here are not published; undefined until they are looked for. */
  let skipped = tailLines === 0 ? undefined : 0
  /** What is not chosen is not read again with the next line. */
  const isChosen = [choice.attempt, choice.stream, choice.since].some((wanted) => wanted !== undefined)
  const findPassed = async () => (isChosen ? findNewest() : 0)

  async function findNewest(): Promise<number> {
    for await (const { seq } of logs.read(uid, { tailLines: 1 })) return seq
    return 0
  }

  async function* readLines(after: number): AsyncGenerator<LogLine> {
    const range = tail ? { tailLines: tail } : { afterSeq: after }
    tail = undefined
    for await (const line of logs.read(uid, { ...choice, ...range })) {
      published = ''
      yield line
    }
  }

  async function readUnfinished(): Promise<string> {
    // It is output.
    const line = choice.stream === 'stderr' ? undefined : await logs.unfinished(uid)
    return line !== undefined && (choice.attempt ?? line.attempt) === line.attempt ? line.text : ''
  }

  function readPart(seq: number, text: string): LinePart[] {
    // One that goes on otherwise is published when it is whole.
    if (text.length <= published.length || !text.startsWith(published)) return []
    const part = { seq, offset: published.length, part: text.slice(published.length) }
    published = text
    return [part]
  }

  return async function* read(after: number): AsyncGenerator<LogLine | LinePart> {
    skipped ??= await findNewest()
    for (let last = Math.max(after, skipped); ; ) {
      // Asked first: where no line has come since, it is the next one that begins so.
      const text = await readUnfinished()
      const passed = await findPassed()
      let hasRead = false
      for await (const line of readLines(last)) {
        last = line.seq
        hasRead = true
        yield line
      }
      last = Math.max(last, passed)
      skipped = last
      if (!hasRead) return yield* readPart(last, text)
    }
  }
}

export type StreamDeps = Pick<UsecaseDeps, 'ports'> & { taskChanges: TaskChanges }

export function createTaskStreams({ ports, taskChanges }: StreamDeps, resources: ResourceUsecases): TaskStreams {
  const { records } = ports
  const getTask = (caller: Caller, key: ResourceKey) => resources.get(caller, 'Task', key)

  /** Also ends when the task is deleted, even if another one gets its name; what follows one attempt ends with a later one. */
  function watchEnd(key: ResourceKey, uid: string, attempt?: number): () => Promise<boolean> {
    return async () => {
      const task = await ports.resources.get('Task', key)
      if (task?.metadata.uid !== uid || isTerminalPhase(task.status?.phase)) return true
      return attempt !== undefined && (task.status?.attempts ?? 0) > attempt
    }
  }

  /** What is written to the task, and its end: it can end without a word. */
  function subscribeBoth(written: Pick<Logs, 'onAppend'>, { key, uid }: { key: ResourceKey; uid: string }) {
    return (listener: () => void) => {
      const ends = [written.onAppend(uid, listener), taskChanges.onChange(key, listener)]
      return () => ends.forEach((end) => void end())
    }
  }

  return {
    async logs(caller, key, choice) {
      const task = await getTask(caller, key)
      const lines = records.logs.read(task.metadata.uid, choice)[Symbol.asyncIterator]()
      const first = await lines.next()
      const phase = task.status?.phase ?? 'Pending'
      if (first.done && (phase === 'Pending' || phase === 'Scheduled')) {
        throw new SvcError('NotFound', `task is ${phase.toLowerCase()}, no logs available yet`)
      }
      return iterate(first, lines)
    },
    async followLogs(caller, key, { afterSeq, tailLines, ...choice }) {
      const { uid } = (await getTask(caller, key)).metadata
      const isOver = watchEnd(key, uid, choice.attempt)
      const read = createLogReader(records.logs, uid, { ...choice, ...(afterSeq === undefined && { tailLines }) })
      const subscribe = subscribeBoth(records.logs, { key, uid })
      return (signal) => followRecords({ read, subscribe, isOver, afterSeq: afterSeq ?? 0, signal })
    },
    async events(caller, key, { beforeSeq, limit }) {
      const task = await getTask(caller, key)
      const all = await records.events.list({ taskUid: task.metadata.uid })
      const older = beforeSeq === undefined ? all : all.filter((event) => event.seq < beforeSeq)
      return older.slice(-limit).reverse()
    },
    async trace(caller, key, query) {
      const task = await getTask(caller, key)
      const steps = await records.steps.list({ ...query, taskUid: task.metadata.uid })
      return steps.map((step) => endStep(step, (attempt) => isOverIn(task, attempt)))
    },
    async followTrace(caller, key, { afterSeq, ...query }) {
      const { uid: taskUid } = (await getTask(caller, key)).metadata
      return (signal) =>
        followRecords({
          read: createStepReader(records.steps, { ...query, taskUid }, async () => {
            const task = await ports.resources.get('Task', key)
            return (attempt) => task?.metadata.uid === taskUid && isOverIn(task, attempt)
          }),
          subscribe: subscribeBoth(records.steps, { key, uid: taskUid }),
          isOver: watchEnd(key, taskUid),
          afterSeq: afterSeq ?? 0,
          signal,
        })
    },
    async followEvents(caller, key, afterSeq) {
      const { uid } = (await getTask(caller, key)).metadata
      return (signal) =>
        followRecords({
          read: (after) => records.events.list({ taskUid: uid, afterSeq: after }),
          subscribe: subscribeBoth(records.events, { key, uid }),
          isOver: watchEnd(key, uid),
          afterSeq,
          signal,
        })
    },
  }
}

function isOverIn({ status }: Pick<Task, 'status'>, attempt: number): boolean {
  const { attempts = 0 } = status ?? {}
  return attempt < attempts || (attempt === attempts && !hasAttempt(status))
}

export type FollowedRecords<T> = {
  /** What was written after the given number, in order. */
  read(afterSeq: number): AsyncIterable<T> | Iterable<T> | Promise<Iterable<T>>
  /** Calls back when there may be more to read, or it may be over; returns the unsubscribe function. */
  subscribe(listener: () => void): () => void
  /** Whether nothing more will be written. */
  isOver(): Promise<boolean>
  afterSeq: number
  signal: AbortSignal
}

/** Yields existing and new entries, each once, in order; ends with the task or the signal. */
export async function* followRecords<T extends { seq: number }>(followed: FollowedRecords<T>): AsyncGenerator<T> {
  const { signal } = followed
  const alarm = createAlarm(signal)
  const unsubscribe = followed.subscribe(alarm.wake)
  let last = followed.afterSeq
  try {
    while (!signal.aborted) {
      // Checked before reading, so that everything written before the end is read too.
      const isOver = await followed.isOver()
      for await (const item of await followed.read(last)) {
        last = Math.max(last, item.seq)
        yield item
      }
      if (isOver) return
      await alarm.wait()
    }
  } finally {
    unsubscribe()
  }
}
