// Removes secrets from text: first by known value, then by pattern (SECRET-008).
import { cutOpenShapes, cutShapes, isSecretName, mark, type ShapeLevel } from './credential-shapes.ts'

/** Shorter values would black out ordinary words. */
const shortestSecret = 6
/** Keys and certificates are printed line by line; their frame lines and short last lines are not secret. */
const shortestLine = 24

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

/**
 * The base64 of a text depends on its offset: these are the parts that do not change, for each of the three offsets.
 */
function listBase64(value: string): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), Buffer.from(value)])
      .toString('base64')
      .replace(/=+$/, '')
    const bytes = offset + Buffer.byteLength(value)
    const start = Math.ceil((offset * 8) / 6)
    const stable = encoded.slice(start, Math.floor((bytes * 8) / 6))
    return stable.length >= 8 ? [stable, stable.replaceAll('+', '-').replaceAll('/', '_')] : []
  })
}

function listForms(value: string): string[] {
  const json = JSON.stringify(value).slice(1, -1)
  const inUrl = encodeURIComponent(value.toWellFormed())
  return [value, json, inUrl, inUrl.replaceAll('%20', '+'), ...listBase64(value)]
}

function listLines(value: string): string[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim())
  return lines.length < 2 ? [] : lines.filter((line) => line.length >= shortestLine && !line.startsWith('-----'))
}

/** Longest first, so that a secret inside another one leaves nothing behind. */
function listAllForms(values: readonly string[]): string[] {
  const known = values
    .flatMap((value) => [value, value.trim(), ...listLines(value)])
    .filter((value) => value.length >= shortestSecret)
  return [...new Set(known.flatMap(listForms))].sort((a, b) => b.length - a.length)
}

function compileForms(forms: readonly string[]): RegExp | undefined {
  return forms.length === 0 ? undefined : new RegExp(forms.map(escapePattern).join('|'), 'g')
}

/** The text up to where a form may start at its end; the forms are sorted by length. In a complete text none starts. */
function cutOpenForm(text: string, forms: readonly string[], known: RegExp): string {
  const isOpen = (at: number) => forms.some((form) => form.length > text.length - at && form.startsWith(text.slice(at)))
  let at = Math.max(0, text.length - (forms[0]?.length ?? 0) + 1)
  for (const { index, 0: whole } of text.matchAll(known)) {
    for (; at <= index; at += 1) if (isOpen(at)) return text.slice(0, at)
    at = Math.max(at, index + whole.length)
  }
  while (at < text.length && !isOpen(at)) at += 1
  return text.slice(0, at)
}

export type Redactor = (text: string) => string

/**
 * A function that removes the given values, in plain, JSON, URL and base64 spelling, and everything that looks like a
 * credential. `all` patterns are for logs, errors and messages; `tokens` for what models read and write, where
 * `password: x` is code.
 */
export function createRedactor(values: readonly string[], shapes: ShapeLevel = 'all'): Redactor {
  const known = compileForms(listAllForms(values))
  return (text) => cutShapes(known === undefined ? text : text.replace(known, mark), shapes)
}

/**
 * The same for the start of a line that still grows: its result is the start of what the redactor returns for the whole
 * line, however that continues. Holds back only what may be the start of a secret.
 */
export function createOpenRedactor(values: readonly string[], shapes: ShapeLevel = 'all'): Redactor {
  const forms = listAllForms(values)
  const known = compileForms(forms)
  return (text) => {
    const safe = known === undefined ? text : cutOpenForm(text, forms, known).replace(known, mark)
    return cutOpenShapes(safe, shapes)
  }
}

/** For texts with no known secret values. */
export const redactText: Redactor = createRedactor([])

/** JSON without credentials, in its shape: a text of JSON that is redacted as a whole may not be JSON any more. */
export function redactJson(value: unknown, redact: Redactor): unknown {
  if (typeof value === 'string') return redact(value)
  if (Array.isArray(value)) return value.map((item) => redactJson(item, redact))
  if (typeof value !== 'object') return redact(String(value)) === String(value) ? value : mark
  if (value === null) return value
  const fields = Object.entries(value).map(([name, inner]) => {
    const isHidden = typeof inner !== 'object' && isSecretName(name)
    return [redact(name), isHidden ? mark : redactJson(inner, redact)]
  })
  return Object.fromEntries(fields)
}

/** A line of JSON without credentials, which is still valid JSON. */
export function redactJsonLine(line: string): string {
  if (redactText(line) === line) return line
  return `${JSON.stringify(redactJson(JSON.parse(line), redactText))}\n`
}
