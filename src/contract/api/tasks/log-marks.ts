// What a line of a log has besides its text: when it was written, to which stream, and how serious it is. One form for what workers
// send and for what is stored: the time in milliseconds to the base of 36, a letter of the stream, and one of the level.

/** Output is what the task's program or model writes; what is said about the run goes to `stderr`. */
export const logStreams = ['stdout', 'stderr'] as const
/** A stream of a log. */
export type LogStream = (typeof logStreams)[number]

/** Of lines about the run; output has none. `debug` is what the trace shows as well, such as calls of tools. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const
/** How serious a line about the run is. */
export type LineLevel = (typeof logLevels)[number]

/** `time`: milliseconds since 1970. */
export type LogMark = { time: number; stream: LogStream; level?: LineLevel | undefined }

const streamLetters = { stdout: 'O', stderr: 'E' } as const
const levelLetters = { debug: 'D', info: 'I', warn: 'W', error: 'F' } as const
const form = /^([0-9a-z]{1,9})([OE])([DIWF])?$/

/** Characters of a mark and the space behind it, at most. */
export const maxMarkLength = 12

export function writeLogMark({ time, stream, level }: LogMark): string {
  return `${Math.max(0, Math.trunc(time)).toString(36)}${streamLetters[stream]}${level === undefined ? '' : levelLetters[level]}`
}

/** Whether the line is output, or about the run and at least so serious. */
export function reachesLevel({ level }: Pick<LogMark, 'level'>, minimum: LineLevel): boolean {
  return level === undefined || logLevels.indexOf(level) >= logLevels.indexOf(minimum)
}

/** Undefined for any other text. */
export function readLogMark(text: string): LogMark | undefined {
  const [, time, stream, level] = form.exec(text) ?? []
  if (time === undefined) return undefined
  const mark: LogMark = {
    time: Number.parseInt(time, 36),
    stream: stream === streamLetters.stderr ? 'stderr' : 'stdout',
  }
  const known = logLevels.find((each) => levelLetters[each] === level)
  return known === undefined ? mark : { ...mark, level: known }
}

/** A line that the service or a worker says about the run. */
export function noteForLog(text: string, level: LineLevel): { text: string; stream: LogStream; level: LineLevel } {
  return { text, stream: 'stderr', level }
}

/** What the service or a worker tells of the run. */
export function notesForLog(lines: readonly string[]) {
  return lines.map((text) => noteForLog(text, 'info'))
}

/** A line with its mark before it, as workers send it. A line without a mark is all text. */
export function splitMarkedLine(line: string): { text: string; mark?: LogMark } {
  const end = line.slice(0, maxMarkLength).indexOf(' ')
  const mark = end === -1 ? undefined : readLogMark(line.slice(0, end))
  return mark === undefined ? { text: line } : { text: line.slice(end + 1), mark }
}
