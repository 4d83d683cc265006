// The service's log: JSON lines in files and pipes, readable lines on a terminal; secrets are removed by name and by
// pattern.
import { type Logger, pino } from 'pino'
import { formatPretty } from './pretty.ts'
import { redactJsonLine } from './redaction.ts'

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

/** The root logger; `log.child({ name: 'http' })` makes one for a room. */
export function createLog(options: LogOptions): Logger {
  const write = options.write ?? ((line: string) => void process.stderr.write(line))
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
    { write: (line: string) => write(format(redactJsonLine(line))) },
  )
}
