// The service's log: JSON lines in files and pipes, readable lines on a terminal; secrets are removed by name and by
// pattern.
import { type Logger, pino } from 'pino'
import { openLogOutput } from './log-output.ts'
import { redactJsonLine } from './redaction.ts'

const codes: Record<string, number> = { trace: 90, debug: 90, info: 36, warn: 33, error: 31, fatal: 31 }
const hidden = new Set(['level', 'time', 'message', 'name'])

function paint(text: string, code: number, colors: boolean): string {
  return colors ? `\u001b[${code}m${text}\u001b[0m` : text
}

/** Control characters would let logged text move the cursor or hide lines (CWE-150). */
function sanitize(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ')
}

function describeValue(value: unknown): string {
  if (typeof value === 'string') return /[\s"=]/.test(value) ? JSON.stringify(value) : value
  if (value !== null && typeof value === 'object' && 'message' in value) return JSON.stringify(value.message)
  return JSON.stringify(value)
}

/** `12:00:01 info  http: listening url=http://...`; other text is returned unchanged. */
function formatPretty(line: string, colors: boolean): string {
  let entry: Record<string, unknown>
  try {
    entry = JSON.parse(line)
  } catch {
    return line
  }
  const level = String(entry.level)
  const fields = Object.entries(entry)
    .filter(([key]) => !hidden.has(key))
    .map(([key, value]) => `${paint(`${key}=`, 90, colors)}${sanitize(describeValue(value))}`)
  const name = entry.name === undefined ? '' : `${String(entry.name)}: `
  const parts = [
    paint(String(entry.time).slice(11, 19), 90, colors),
    paint(level.padEnd(5), codes[level] ?? 0, colors),
    sanitize(`${name}${String(entry.message ?? '')}`),
    ...fields,
  ]
  return `${parts.join(' ')}\n`
}

export type { Logger } from 'pino'

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'

export type LogOptions = {
  level: LogLevel
  /** Readable lines instead of JSON; for a terminal. */
  pretty?: boolean
  colors?: boolean
  /** Where lines go; default: standard error. */
  write?: (line: string) => void
}

const secretNames = [
  'token',
  'apiKey',
  'api_key',
  'password',
  'secret',
  'authorization',
  'cookie',
  'stringData',
  'accessToken',
  'bootstrapToken',
  '["x-api-key"]',
]

/** Each name at the top level and one level down. */
function listSecretPaths(): string[] {
  return secretNames.flatMap((name) => (name.startsWith('[') ? [name, `*${name}`] : [name, `*.${name}`]))
}

/** Removing secrets from a longer one would hold up everybody. */
const maxLineLength = 1_048_576

function cleanLine(line: string): string {
  if (line.length <= maxLineLength) return redactJsonLine(line)
  const { level, time, name } = JSON.parse(line)
  return `${JSON.stringify({ level, time, name, message: `a line of ${line.length} characters was left out of the log` })}\n`
}

/** The root logger; `log.child({ name: 'http' })` makes one for a room. */
export function createLog(options: LogOptions): Logger {
  const write = options.write ?? openLogOutput()
  const format = options.pretty ? (line: string) => formatPretty(line, options.colors ?? false) : (line: string) => line
  return pino(
    {
      level: options.level,
      base: null,
      messageKey: 'message',
      errorKey: 'error',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: listSecretPaths(), censor: '[REDACTED]' },
    },
    { write: (line: string) => write(format(cleanLine(line))) },
  )
}
