// Takes secrets out of text: by known value first, by shape second (SECRET-008).

const mark = '[REDACTED]'
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
  return [
    value,
    json,
    encodeURIComponent(value),
    encodeURIComponent(value).replaceAll('%20', '+'),
    ...listBase64(value),
  ]
}

function listLines(value: string): string[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim())
  return lines.length < 2 ? [] : lines.filter((line) => line.length >= shortestLine && !line.startsWith('-----'))
}

function compileValues(values: string[]): RegExp | undefined {
  const known = values
    .flatMap((value) => [value, value.trim(), ...listLines(value)])
    .filter((value) => value.length >= shortestSecret)
  const forms = [...new Set(known.flatMap(listForms))].sort((a, b) => b.length - a.length)
  return forms.length === 0 ? undefined : new RegExp(forms.map(escapePattern).join('|'), 'g')
}

type Shape = { pattern: RegExp; replacement: string }

/** Keys whose values are secret in `key=value`, `key: value` and JSON. */
const secretKeys =
  '[\\w.-]*(?:password|passwd|secret|api[_-]?key|apikey|access[_-]?key|private[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token|client[_-]?secret)'

const shapes: Shape[] = [
  {
    pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
    replacement: mark,
  },
  {
    pattern: /\b((?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:bearer|basic|token|digest)?\s*)[^\s"',;]{6,}/gi,
    replacement: `$1${mark}`,
  },
  { pattern: /\b((?:x-)?api-key["']?\s*[:=]\s*["']?)[^\s"',;]{6,}/gi, replacement: `$1${mark}` },
  { pattern: /\b(bearer\s+)[A-Za-z0-9._~+/-]{16,}=*/gi, replacement: `$1${mark}` },
  { pattern: /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}/g, replacement: mark },
  {
    pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,})/g,
    replacement: mark,
  },
  { pattern: /\bsvc_[A-Za-z0-9_-]{24,}/g, replacement: mark },
  { pattern: /\bxox[a-z]-[A-Za-z0-9-]{10,}/g, replacement: mark },
  { pattern: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, replacement: mark },
  { pattern: /\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]*/g, replacement: mark },
  { pattern: /\b([a-z][a-z0-9+.-]*:\/\/)[^\s/?#@:"'<>]*:[^\s/?#@"'<>]+@/gi, replacement: `$1${mark}@` },
  {
    pattern: new RegExp(`\\b(${secretKeys}["']?\\s*[:=]\\s*)("[^"\\n]{4,}"|'[^'\\n]{4,}'|[^\\s"',;&]{4,})`, 'gi'),
    replacement: `$1${mark}`,
  },
]

export type Redactor = (text: string) => string

/** A function that removes the given values, in plain, JSON, URL and base64 spelling, and whatever looks like a credential. */
export function createRedactor(values: string[]): Redactor {
  const known = compileValues(values)
  return (text) => {
    const withoutKnown = known === undefined ? text : text.replace(known, mark)
    return shapes.reduce((rest, shape) => rest.replace(shape.pattern, shape.replacement), withoutKnown)
  }
}
