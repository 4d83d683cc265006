// The logs in use: jobs of one task run one after the other, and only a limited number of tasks keep their files open.
import type { FileHandle } from 'node:fs/promises'
import { closeTaskLog, loadTaskLog, type SegmentedLog } from './log-files.ts'

export type OpenLogsOptions = {
  /** Where the files of a task are. */
  locate: (taskUid: string) => string
  /** How many unused tasks stay open. */
  openTasks: number
  openFile: (path: string) => Promise<FileHandle>
}

/** One task's log within a job. */
export type OpenLog = { load(): Promise<SegmentedLog>; close(): Promise<void> }

export type OpenLogs = {
  /** Runs the job after those before it of the same task. */
  run<T>(taskUid: string, job: (log: OpenLog) => Promise<T>): Promise<T>
  /** Makes everything durable and closes the files; later jobs open them again. */
  closeAll(): Promise<void>
}

type Entry = { log: OpenLog; jobs: Promise<unknown>; users: number }

function createOpenLog(folder: string, openFile: OpenLogsOptions['openFile']): OpenLog {
  let loaded: SegmentedLog | undefined
  return {
    load: async () => {
      loaded ??= await loadTaskLog(folder, openFile)
      return loaded
    },
    close: async () => {
      const log = loaded
      loaded = undefined
      if (log !== undefined) await closeTaskLog(log)
    },
  }
}

export function createOpenLogs(options: OpenLogsOptions): OpenLogs {
  /** Least recently used first. */
  const entries = new Map<string, Entry>()

  function findEntry(taskUid: string): Entry {
    const log = () => createOpenLog(options.locate(taskUid), options.openFile)
    const entry = entries.get(taskUid) ?? { log: log(), jobs: Promise.resolve(), users: 0 }
    entries.delete(taskUid)
    entries.set(taskUid, entry)
    return entry
  }

  function enqueue<T>(entry: Entry, job: (log: OpenLog) => Promise<T>): Promise<T> {
    entry.users += 1
    const done = entry.jobs.then(() => job(entry.log))
    entry.jobs = done
      .catch(() => undefined)
      .then(() => {
        entry.users -= 1
      })
    return done
  }

  /** Closes the task's file; removes the entry unless somebody started to use it meanwhile. */
  async function forget(taskUid: string, entry: Entry): Promise<void> {
    const closed = enqueue(entry, (log) => log.close())
    await entry.jobs
    if (entry.users === 0 && entries.get(taskUid) === entry) entries.delete(taskUid)
    return closed
  }

  function evictIdle(): void {
    const surplus = entries.size - options.openTasks
    const idle = surplus <= 0 ? [] : [...entries].filter(([, entry]) => entry.users === 0).slice(0, surplus)
    // Nobody here could handle a failure to make lines durable; the operating system has the lines anyway.
    for (const [taskUid, entry] of idle) forget(taskUid, entry).catch(() => undefined)
  }

  return {
    run(taskUid, job) {
      const entry = findEntry(taskUid)
      const done = enqueue(entry, job)
      void entry.jobs.then(evictIdle)
      return done
    },
    async closeAll() {
      await Promise.all([...entries].map(([taskUid, entry]) => forget(taskUid, entry)))
    },
  }
}
