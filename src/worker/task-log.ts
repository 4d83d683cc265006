// The task's log: lines are gathered for a moment, cleaned of secrets and sent in order.
import { messageOf } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'

export interface TaskLog {
  /** One or more whole lines. */
  write(text: string): void
  /** Resolves when everything written so far is sent, or given up. */
  flush(): Promise<void>
}

type TaskLogOptions = {
  send: (text: string) => Promise<void>
  redact: (text: string) => string
  clock: Clock
  /** Where lines go that the service does not take. */
  fallback: (text: string) => void
}

const pauseMs = 100
/** A line longer than this is cut by the service anyway. */
const longestLine = 65_536
/** While the service takes nothing; the oldest lines are dropped first. */
const mostWaiting = 1_048_576

export function createTaskLog(options: TaskLogOptions): TaskLog {
  let waiting: string[] = []
  let size = 0
  let dropped = 0
  let sending: Promise<void> | undefined
  let hurry = new AbortController()

  async function drain(): Promise<void> {
    // Rejects when somebody is in a hurry: that ends the pause as well.
    await options.clock.sleep(pauseMs, hurry.signal).catch(() => undefined)
    while (waiting.length > 0) {
      const note = dropped > 0 ? [`[${dropped} lines were dropped: the service took no log]`] : []
      const batch = `${[...note, ...waiting].join('\n')}\n`
      waiting = []
      size = 0
      dropped = 0
      await options
        .send(batch)
        .catch((error) => options.fallback(`the log was not taken: ${messageOf(error)}\n${batch}`))
    }
  }

  function start(): Promise<void> {
    sending ??= drain().finally(() => {
      sending = undefined
    })
    return sending
  }

  return {
    write(text) {
      for (const line of options.redact(text).split('\n')) {
        waiting.push(line.slice(0, longestLine))
        size += line.length + 1
      }
      while (size > mostWaiting && waiting.length > 1) {
        size -= (waiting.shift()?.length ?? 0) + 1
        dropped += 1
      }
      void start()
    },
    async flush() {
      hurry.abort()
      while (sending !== undefined || waiting.length > 0) await start()
      hurry = new AbortController()
    },
  }
}
