// The task's log: lines are gathered for a moment, cleaned of secrets and sent in order.
import { type LineLevel, splitMarkedLine, writeLogMark } from '../contract/api/tasks/log-marks.ts'
import { messageOf } from '../errors.ts'
import { type Clock, monotonicMs } from '../lib/clock.ts'
import { cutLine } from '../lib/line-reader.ts'

export interface TaskLog {
  /** One or more whole lines; with a level they are about the run, else its output. */
  write(text: string, level?: LineLevel): void
  /** What there is of a line that is still being written, all of it each time; whoever follows the log sees it. */
  begin(text: string): void
  /** What is not sent yet, in the form that it would be sent in, each line after its mark; nothing is sent any more. */
  finish(): Promise<string>
}

type TaskLogOptions = {
  send: (text: string) => Promise<void>
  redact: (text: string) => string
  /** The same for the beginning of a line: what may be that of a secret is held back. */
  redactBeginning: (text: string) => string
  clock: Clock
  /** Where lines go that the service does not take. */
  fallback: (text: string) => void
}

/** Between two calls; a word after a longer silence is told sooner. */
const pauseMs = 100
const shortestPauseMs = 20
/** Of a line that has no end: all of it is sent again when it has grown, so the rest comes with the line. */
const maxBeginningLength = 16_384
/** While the service takes nothing; the oldest lines are dropped first. */
const maxWaitingLength = 1_048_576

export function createTaskLog(options: TaskLogOptions): TaskLog {
  let waiting: string[] = []
  let size = 0
  let dropped = 0
  let sending: Promise<void> | undefined
  const finished = new AbortController()
  let beginning = ''
  let sent = ''
  let hasNews = false
  let sentAt = Number.NEGATIVE_INFINITY

  function markLine(line: string, level: LineLevel | undefined): string {
    const time = options.clock.now().getTime()
    return `${writeLogMark({ time, stream: level === undefined ? 'stdout' : 'stderr', level })} ${cutLine(line)}`
  }

  function takeLines(): string {
    if (waiting.length === 0) return ''
    const note = dropped > 0 ? [markLine(`[${dropped} lines were dropped: the service took no log]`, 'warn')] : []
    const lines = `${[...note, ...waiting].join('\n')}\n`
    waiting = []
    size = 0
    dropped = 0
    return lines
  }

  /** Empty: everything is sent. */
  function takeNews(): { lines: string; shown: string; isNew: boolean } {
    hasNews = false
    const shown = options.redactBeginning(beginning.slice(0, maxBeginningLength)).replace(/\r$/, '')
    const lines = takeLines()
    const isNew = lines !== '' || shown !== sent
    sent = shown
    return { lines, shown, isNew }
  }

  function choosePause(): number {
    return Math.max(shortestPauseMs, sentAt + pauseMs - monotonicMs(options.clock))
  }

  async function sendNews(): Promise<void> {
    const { lines, shown, isNew } = takeNews()
    if (!isNew) return
    sentAt = monotonicMs(options.clock)
    await options.send(lines + shown).catch((error) => {
      if (lines !== '') options.fallback(`the log was not taken: ${messageOf(error)}\n${lines}`)
    })
  }

  async function drain(): Promise<void> {
    do {
      // Rejects when it is finished: that ends the pause as well.
      await options.clock.sleep(choosePause(), finished.signal).catch(() => undefined)
      if (!finished.signal.aborted) await sendNews()
    } while (hasNews && !finished.signal.aborted)
  }

  function start(): void {
    if (finished.signal.aborted) return
    sending ??= drain().finally(() => {
      sending = undefined
    })
  }

  return {
    write(text, level) {
      for (const line of options.redact(text).split('\n')) {
        waiting.push(markLine(line, level))
        size += line.length + 1
      }
      while (size > maxWaitingLength && waiting.length > 1) {
        size -= (waiting.shift()?.length ?? 0) + 1
        dropped += 1
      }
      hasNews = true
      start()
    },
    begin(text) {
      beginning = text
      // It is a whole line now, and is sent with the others.
      if (text === '') return
      hasNews = true
      start()
    },
    async finish() {
      finished.abort()
      await sending
      const { lines, shown } = takeNews()
      return lines + shown
    },
  }
}

/** What was to be sent, without marks. */
export function dropMarks(lines: string): string {
  return lines
    .split('\n')
    .map((line) => splitMarkedLine(line).text)
    .join('\n')
}

/** Words of a model or a program cannot start a line that looks like one of the service's. */
export function toLine(text: string): string {
  return `[${text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trimEnd()}]`
}

/** Redact before: a secret that is cut in two would not be found. */
export function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}... (${text.length} characters)`
}
