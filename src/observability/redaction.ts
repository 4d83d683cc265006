// Removes secrets from text: first by known value, then by pattern (SECRET-008).
import { noteWork } from './loop-watch.ts'

const mark = '[REDACTED]'
/** Larger ones take milliseconds. */
const largeText = 100_000

/**
 * `open` matches where a secret may start, as far as it goes; one that reaches the end of the text may continue. What its
 * group `prefix` matches is no part of the secret. It never looks back from where it stopped: each takes linear time.
 */
type Shape = { pattern: RegExp; replacement: string; open: RegExp }

/** Where a token starts. Stricter than a word boundary: a run of dashes must not be retried at each of them. */
const start = '(?<![\\w-])'
/** Identifiers in programs that start like a token contain no digit; tokens contain many. */
const digit = '(?=[A-Za-z_-]*\\d)'

/** A pattern for any prefix of the word, at the end of the text. */
function beginning(word: string): string {
  const [first = '', ...letters] = word
  return `${first}${letters.reduceRight((inner, letter) => `(?:${letter}${inner})?`, '')}$`
}

const privateKey = '-----BEGIN [A-Z ]*PRIVATE KEY-----'
// The dashes after KEY end a frame line.
const openPrivateKey = `(?<!KEY-{0,4})(?:-----BEGIN [A-Z ]*(?:-{1,5}$)?|-----(?:${beginning('BEGIN')})|-{1,5}$)`

/** Unmistakable in any context: code that a model reads and writes back stays intact. */
const tokens: Shape[] = [
  // Requires a body: the frame line alone occurs in every program that reads keys.
  {
    pattern: new RegExp(`${privateKey}(?:\\\\[rn]|[\\sA-Za-z0-9+/=:,-]){64,}`, 'g'),
    replacement: mark,
    open: new RegExp(`${privateKey}(?:\\\\[rn]|[\\sA-Za-z0-9+/=:,-])*(?:\\\\$)?|${openPrivateKey}`, 'g'),
  },
  {
    pattern: new RegExp(`${start}(?:sk|pk|rk)-${digit}[A-Za-z0-9_-]{16,}`, 'g'),
    replacement: mark,
    open: new RegExp(`${start}[spr](?:k-[A-Za-z0-9_-]*|k?$)`, 'g'),
  },
  {
    pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,})/g,
    replacement: mark,
    open: new RegExp(
      `\\b(?:gh[pousr]_[A-Za-z0-9]*|github_pat_[A-Za-z0-9_]*|glpat-[A-Za-z0-9_-]*|gh[pousr]?$|${beginning('github_pat')}|${beginning('glpat')})`,
      'g',
    ),
  },
  {
    pattern: new RegExp(`${start}svc_${digit}[A-Za-z0-9_-]{43,}`, 'g'),
    replacement: mark,
    open: new RegExp(`${start}(?:svc_[A-Za-z0-9_-]*|${beginning('svc')})`, 'g'),
  },
  {
    pattern: new RegExp(`${start}xox[a-z]-${digit}[A-Za-z0-9-]{10,}`, 'g'),
    replacement: mark,
    open: new RegExp(`${start}(?:xox[a-z]-[A-Za-z0-9-]*|xox[a-z]$|${beginning('xox')})`, 'g'),
  },
  {
    pattern: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
    replacement: mark,
    open: /\bA(?:[KS]IA[A-Z0-9]*|(?:[KS]I?)?$)/g,
  },
  {
    pattern: new RegExp(`${start}eyJ[A-Za-z0-9_-]{6,}\\.[A-Za-z0-9_-]{6,}\\.[A-Za-z0-9_-]*`, 'g'),
    replacement: mark,
    open: new RegExp(`${start}(?:eyJ[A-Za-z0-9_.-]*|${beginning('eyJ')})`, 'g'),
  },
]

/** Names whose values are secret in `key=value`, `key: value` and JSON. */
const names =
  'password|passwd|secret|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token'

/** A quoted value, whose quotes stay, also inside a JSON string; or a bare word. */
const value = `(?:(\\\\*["'])(?:(?!\\2)[^\\n]){4,}?(?=\\2)|(?![{[(])[^\\s"',;&]{4,})`
const openValue = `(?:(?<quote>\\\\*["'])(?:(?!\\k<quote>)[^\\n])*|(?![{[(])[^\\s"',;&]*)`

/** What may stand between the name of the header and its credential. Two runs of blanks never meet: they could be split anywhere. */
const scheme = `\\s*(?:(?:\\\\+["']?|["'])\\s*)?(?:(?:bearer|basic|token|digest)\\s*)?`

/** Recognized by their context, as in `password: x`: right for logs and errors, ruinous for code. */
const surroundings: Shape[] = [
  {
    pattern: new RegExp(`${privateKey}[\\s\\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`, 'g'),
    replacement: mark,
    open: new RegExp(openPrivateKey, 'g'),
  },
  {
    pattern: new RegExp(`\\b((?:proxy-)?authorization\\\\*["']?\\s*[:=]${scheme})[^\\s"',;\\\\]{6,}`, 'gi'),
    replacement: `$1${mark}`,
    open: new RegExp(
      `(?<prefix>\\b(?:proxy-)?authorization\\\\*["']?\\s*[:=])${scheme}(?<value>[^\\s"',;\\\\]*)`,
      'gi',
    ),
  },
  {
    pattern: /\b(bearer\s+)[A-Za-z0-9._~+/-]{16,}=*/gi,
    replacement: `$1${mark}`,
    open: /(?<prefix>\bbearer\s)\s*(?<value>[A-Za-z0-9._~+/-]*=*)/gi,
  },
  {
    pattern: /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#@:"'<>]*:[^\s/?#@"'<>]+@/gi,
    replacement: `$1${mark}@`,
    open: /(?<prefix>\b[a-z][a-z0-9+.-]{0,20}:\/\/)(?<value>[^\s/?#@"'<>]*)/gi,
  },
  {
    pattern: new RegExp(`((?:${names})\\\\*["']?\\s*[:=]\\s*)${value}`, 'gi'),
    replacement: `$1$2${mark}`,
    open: new RegExp(`(?<prefix>(?:${names})\\\\*["']?\\s*[:=])\\s*(?<value>${openValue})`, 'gi'),
  },
]

/** Which patterns to look for: the unmistakable ones, or all, for texts that nobody parses or writes back. */
type ShapeLevel = 'tokens' | 'all'

const levels: Record<ShapeLevel, Shape[]> = { tokens, all: [...surroundings, ...tokens] }

/** The text without anything that looks like a credential. */
function cutShapes(text: string, level: ShapeLevel): string {
  return levels[level].reduce((rest, { pattern, replacement }) => rest.replace(pattern, replacement), text)
}

type Span = { start: number; end: number }

const spanOf = ({ index, 0: { length } }: RegExpExecArray): Span => ({ start: index, end: index + length })

/** The secrets in the text, in order: calls ask for ever later places. */
function createWholes(text: string, pattern: RegExp): (at: number) => Span | undefined {
  const wholes = text.matchAll(pattern)
  const next = () => {
    const found = wholes.next().value
    return found === undefined ? undefined : spanOf(found)
  }
  let whole = next()
  return (at) => {
    while (whole !== undefined && whole.end <= at) whole = next()
    return whole !== undefined && whole.start <= at ? whole : undefined
  }
}

/** Where to look on after a match that is no open secret. What begins inside of a whole secret is a part of it. */
function endOf(found: RegExpExecArray, whole: Span | undefined): number {
  const { start, end } = spanOf(found)
  if (whole === undefined) return end - (found.groups?.value?.length ?? 0)
  return whole.start < start ? whole.end : Math.max(end, whole.end)
}

/** Where the text must end, so that nothing of a secret is shown; undefined: it can be shown as a whole. */
function findOpen(text: string, { pattern, open }: Shape): number | undefined {
  open.lastIndex = 0
  let found = open.exec(text)
  if (found === null) return undefined
  const wholeAt = createWholes(text, pattern)
  for (; found !== null; found = open.exec(text)) {
    const { start, end } = spanOf(found)
    const whole = wholeAt(start)
    const isNew = whole === undefined || whole.start === start
    if (isNew && end === text.length) return start + (found.groups?.prefix?.length ?? 0)
    open.lastIndex = endOf(found, whole)
  }
  return undefined
}

/** A prefix of the result of cutShapes, however the line continues. */
function cutOpenShapes(text: string, level: ShapeLevel): string {
  return levels[level].reduce((rest, shape) => {
    return rest.slice(0, findOpen(rest, shape)).replace(shape.pattern, shape.replacement)
  }, text)
}

const secretName = new RegExp(`(?:${names}|authorization)$`, 'i')

/** Whether a field of this name holds a secret. */
function isSecretName(name: string): boolean {
  return secretName.test(name)
}

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
      .replaceAll('=', '')
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

/** Secrets in all spellings. */
export type SecretForms = { forms: readonly string[]; known: RegExp | undefined }

/** For those who need several redactors of the same values. */
export function compileForms(values: readonly string[]): SecretForms {
  const forms = listAllForms(values)
  return { forms, known: forms.length === 0 ? undefined : new RegExp(forms.map(escapePattern).join('|'), 'g') }
}

function isCompiled(secrets: readonly string[] | SecretForms): secrets is SecretForms {
  return 'forms' in secrets
}

/** The pattern is compiled with its first use, and then takes more memory than a run that waits: few texts have a secret. */
function findForms(text: string, { forms, known }: SecretForms): RegExp | undefined {
  return known !== undefined && forms.some((form) => text.includes(form)) ? known : undefined
}

function cutForms(text: string, secrets: SecretForms): string {
  const found = findForms(text, secrets)
  return found === undefined ? text : text.replace(found, mark)
}

function matchForms(text: string, secrets: SecretForms): Iterable<RegExpExecArray> {
  const found = findForms(text, secrets)
  return found === undefined ? [] : text.matchAll(found)
}

/** The text up to where a form may start at its end; the forms are sorted by length. In a complete text none starts. */
function cutOpenForm(text: string, secrets: SecretForms): string {
  const { forms } = secrets
  const isOpen = (at: number) => forms.some((form) => form.length > text.length - at && form.startsWith(text.slice(at)))
  let at = Math.max(0, text.length - (forms[0]?.length ?? 0) + 1)
  for (const { index, 0: whole } of matchForms(text, secrets)) {
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
export function createRedactor(secrets: readonly string[] | SecretForms, shapes: ShapeLevel = 'all'): Redactor {
  const forms = isCompiled(secrets) ? secrets : compileForms(secrets)
  return (text) => {
    if (text.length > largeText) noteWork({ kind: 'redaction', size: text.length })
    return cutShapes(cutForms(text, forms), shapes)
  }
}

/**
 * The same for the start of a line that still grows: its result is the start of what the redactor returns for the whole
 * line, however that continues. Holds back only what may be the start of a secret.
 */
export function createOpenRedactor(secrets: readonly string[] | SecretForms, shapes: ShapeLevel = 'all'): Redactor {
  const forms = isCompiled(secrets) ? secrets : compileForms(secrets)
  return (text) => cutOpenShapes(cutForms(cutOpenForm(text, forms), forms), shapes)
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
