// Takes secrets out of text: by known value first, by shape second (SECRET-008).
import { cutOpenShapes, cutShapes, isSecretName, mark, type ShapeLevel } from './credential-shapes.ts'

/** Shorter values would black out ordinary words. */
const shortestSecret = 6
/** Keys and certificates are printed line by line; their frame lines and short ends are no secret. */
const shortestLine = 24

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

/** Base64 of a text depends on where it starts: the part that is the same at each of the three offsets. */
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

/** Longest first, so that a secret inside another leaves no rest. */
function listAllForms(values: readonly string[]): string[] {
  const known = values
    .flatMap((value) => [value, value.trim(), ...listLines(value)])
    .filter((value) => value.length >= shortestSecret)
  return [...new Set(known.flatMap(listForms))].sort((a, b) => b.length - a.length)
}

function compileForms(forms: readonly string[]): RegExp | undefined {
  return forms.length === 0 ? undefined : new RegExp(forms.map(escapePattern).join('|'), 'g')
}

/** The text up to where it may end with the beginning of a form, which are in order of their lengths; in a whole one none begins. */
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
 * A function that removes the given values, in plain, JSON, URL and base64 spelling, and what looks like a credential.
 * `all` shapes are for logs, errors and messages; `tokens` for what models read and write, where `password: x` is code.
 */
export function createRedactor(values: readonly string[], shapes: ShapeLevel = 'all'): Redactor {
  const known = compileForms(listAllForms(values))
  return (text) => cutShapes(known === undefined ? text : text.replace(known, mark), shapes)
}

/**
 * The same for the beginning of a line that still grows: what it gives is the beginning of what the redactor gives for the line,
 * however that goes on. Only what may be the beginning of a secret is held back.
 */
export function createOpenRedactor(values: readonly string[], shapes: ShapeLevel = 'all'): Redactor {
  const forms = listAllForms(values)
  const known = compileForms(forms)
  return (text) => {
    const safe = known === undefined ? text : cutOpenForm(text, forms, known).replace(known, mark)
    return cutOpenShapes(safe, shapes)
  }
}

/** For texts of which no secret value is known. */
export const redactText: Redactor = createRedactor([])

/** A line of JSON without credentials, which is JSON still. */
export function redactJsonLine(line: string): string {
  if (redactText(line) === line) return line
  const clean: unknown = JSON.parse(line, (name, value) => {
    if (typeof value === 'object') return value
    if (isSecretName(name)) return mark
    return typeof value === 'string' ? redactText(value) : value
  })
  return `${JSON.stringify(clean)}\n`
}
