// The log of a task, by a stream of its own while it is on the screen.
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react'
import { followLog } from '../../../../src/client/task-log.ts'
import { api } from '../../data/api.ts'
import { createNotice } from '../../parts/trace/notice.ts'
import { createLogLines, type LogLines } from './log-lines.ts'
import { type TaskPlace, targetOf } from './place.ts'

/** Lines are shown together: the log is drawn at most this often, a long one more seldom. */
const gatherMs = (count: number) => 100 + count / 500

function createLiveLines() {
  const lines = createLogLines()
  return { lines, notice: createNotice(() => gatherMs(lines.count())) }
}

export type LiveLog = {
  lines: LogLines
  /** Rises with each change of the lines. */
  version: number
  /** Whether more may come. */
  isOpen: boolean
  error: unknown
  retry: () => void
}

/** For one task: draw what uses it anew (`key`) for another one. */
export function useLog({ namespace, name }: TaskPlace): LiveLog {
  const [{ lines, notice }] = useState(createLiveLines)
  const [isOpen, setOpen] = useState(true)
  const [error, setError] = useState<unknown>()
  const [tries, setTries] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each try opens the stream again, where it was left
  useEffect(() => {
    const stop = new AbortController()
    async function read(): Promise<void> {
      const input = { ...targetOf({ namespace, name }), signal: stop.signal, position: lines.position }
      for await (const item of followLog(api(), input)) {
        lines.add(item)
        notice.note()
      }
      setOpen(false)
      notice.note()
    }
    read().catch((failure) => {
      if (!stop.signal.aborted) setError(failure)
    })
    return () => stop.abort()
  }, [namespace, name, lines, notice, tries])
  const version = useSyncExternalStore(notice.subscribe, notice.version)
  const retry = useCallback(() => {
    setError(undefined)
    setTries((count) => count + 1)
  }, [])
  return { lines, version, isOpen, error, retry }
}
