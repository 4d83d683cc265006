// Takes secrets out of text: known values in the spellings in which they travel, then what has a credential's shape (SECRET-008).
import { redactText } from '../observability/redaction.ts'

export type Redact = (text: string) => string

const redacted = '[REDACTED]'

/** Shorter values would take ordinary words out of every text. */
const shortestSecret = 6
/** Keys and certificates are printed line by line; their frame lines and short ends are no secret. */
const shortestLine = 24

function linesOf(secret: string): string[] {
  const lines = secret.split(/\r?\n/).map((line) => line.trim())
  return lines.length < 2 ? [] : lines.filter((line) => line.length >= shortestLine && !line.startsWith('-----'))
}

function spell(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1)
  const bytes = Buffer.from(secret)
  return [secret, json, encodeURIComponent(secret), bytes.toString('base64'), bytes.toString('base64url')]
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

/** Longest first, so that a secret inside another leaves no rest. */
export function createRedactor(secrets: readonly string[]): Redact {
  const known = secrets.map((secret) => secret.trim()).filter((secret) => secret.length >= shortestSecret)
  const values = known.flatMap((secret) => [...spell(secret), ...linesOf(secret)])
  const spellings = [...new Set(values)].sort((a, b) => b.length - a.length)
  if (spellings.length === 0) return redactText
  const pattern = new RegExp(spellings.map(escapePattern).join('|'), 'g')
  return (text) => redactText(text.replace(pattern, redacted))
}
