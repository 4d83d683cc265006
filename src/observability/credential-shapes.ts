// What credentials look like: the one table of patterns (SECRET-008).

export const mark = '[REDACTED]'

/**
 * `open` finds where the end of a line may be the start of the pattern, or the pattern may continue. What its group `kept`
 * matches is no part of the secret.
 */
type Shape = { pattern: RegExp; replacement: string; open: RegExp }

/** Where a token starts. Stricter than a word boundary: a run of dashes must not be retried at each of them. */
const start = '(?<![\\w-])'
/** Identifiers in programs that start like a token contain no digit; tokens contain many. */
const digit = '(?=[A-Za-z_-]*\\d)'

/** A pattern for any prefix of the word, or the whole word followed by `rest`. */
function beginning(word: string, rest: string): string {
  const [first = '', ...letters] = word
  return first + letters.reduceRight((inner, letter) => `(?:${letter}${inner})?`, rest)
}

const privateKey = '-----BEGIN [A-Z ]*PRIVATE KEY-----'
// The dashes after KEY end a frame line.
const openPrivateKey = `(?<!KEY-{0,4})(?:-{1,4}|-----(?:${beginning('BEGIN ', '[A-Z ]*-{0,5}')})?)$`

/** Unmistakable in any context: code that a model reads and writes back stays intact. */
const tokens: Shape[] = [
  // Requires a body: the frame line alone occurs in every program that reads keys.
  {
    pattern: new RegExp(`${privateKey}(?:\\\\[rn]|[\\sA-Za-z0-9+/=:,-]){64,}`, 'g'),
    replacement: mark,
    open: new RegExp(`${openPrivateKey}|${privateKey}(?:\\\\[rn]|[\\sA-Za-z0-9+/=:,-])*\\\\?$`, 'g'),
  },
  {
    pattern: new RegExp(`${start}(?:sk|pk|rk)-${digit}[A-Za-z0-9_-]{16,}`, 'g'),
    replacement: mark,
    open: new RegExp(`${start}[spr](?:k(?:-[A-Za-z0-9_-]*)?)?$`, 'g'),
  },
  {
    pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,})/g,
    replacement: mark,
    open: new RegExp(
      `\\b(?:gh[pousr]?(?:(?<=[pousr])_[A-Za-z0-9]*)?|${beginning('github_pat_', '[A-Za-z0-9_]*')}|${beginning('glpat-', '[A-Za-z0-9_-]*')})$`,
      'g',
    ),
  },
  {
    pattern: new RegExp(`${start}svc_${digit}[A-Za-z0-9_-]{43,}`, 'g'),
    replacement: mark,
    open: new RegExp(`${start}${beginning('svc_', '[A-Za-z0-9_-]*')}$`, 'g'),
  },
  {
    pattern: new RegExp(`${start}xox[a-z]-${digit}[A-Za-z0-9-]{10,}`, 'g'),
    replacement: mark,
    open: new RegExp(`${start}x(?:o(?:x(?:[a-z](?:-[A-Za-z0-9-]*)?)?)?)?$`, 'g'),
  },
  {
    pattern: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
    replacement: mark,
    open: /\bA(?:[KS](?:I(?:A[A-Z0-9]*)?)?)?$/g,
  },
  {
    pattern: new RegExp(`${start}eyJ[A-Za-z0-9_-]{6,}\\.[A-Za-z0-9_-]{6,}\\.[A-Za-z0-9_-]*`, 'g'),
    replacement: mark,
    open: new RegExp(`${start}${beginning('eyJ', '[A-Za-z0-9_.-]*')}$`, 'g'),
  },
]

/** Names whose values are secret in `key=value`, `key: value` and JSON. */
const names =
  'password|passwd|secret|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token'

/** A quoted value, whose quotes stay, also inside a JSON string; or a bare word. */
const value = `(?:(\\\\*["'])(?:(?!\\2)[^\\n]){4,}?(?=\\2)|(?![{[(])[^\\s"',;&]{4,})`
const openValue = `(?:(?<quote>\\\\*["'])(?:(?!\\k<quote>)[^\\n])*|(?![{[(])[^\\s"',;&]*)`

/** Recognized by their context, as in `password: x`: right for logs and errors, ruinous for code. */
const surroundings: Shape[] = [
  {
    pattern: new RegExp(`${privateKey}[\\s\\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`, 'g'),
    replacement: mark,
    open: new RegExp(openPrivateKey, 'g'),
  },
  {
    pattern: /\b((?:proxy-)?authorization\\*["']?\s*[:=]\s*\\*["']?(?:bearer|basic|token|digest)?\s*)[^\s"',;\\]{6,}/gi,
    replacement: `$1${mark}`,
    open: /(?<kept>\b(?:proxy-)?authorization\\*["']?\s*[:=])\s*\\*["']?(?:bearer|basic|token|digest)?\s*[^\s"',;\\]*$/gi,
  },
  {
    pattern: /\b(bearer\s+)[A-Za-z0-9._~+/-]{16,}=*/gi,
    replacement: `$1${mark}`,
    open: /(?<kept>\bbearer\s)\s*[A-Za-z0-9._~+/-]*=*$/gi,
  },
  {
    pattern: /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#@:"'<>]*:[^\s/?#@"'<>]+@/gi,
    replacement: `$1${mark}@`,
    open: /(?<kept>\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#@"'<>]*$/gi,
  },
  {
    pattern: new RegExp(`((?:${names})\\\\*["']?\\s*[:=]\\s*)${value}`, 'gi'),
    replacement: `$1$2${mark}`,
    open: new RegExp(`(?<kept>(?:${names})\\\\*["']?\\s*[:=])\\s*${openValue}$`, 'gi'),
  },
]

/** Which patterns to look for: the unmistakable ones, or all, for texts that nobody parses or writes back. */
export type ShapeLevel = 'tokens' | 'all'

const levels: Record<ShapeLevel, Shape[]> = { tokens, all: [...surroundings, ...tokens] }

/** The text without anything that looks like a credential. */
export function cutShapes(text: string, level: ShapeLevel): string {
  return levels[level].reduce((rest, { pattern, replacement }) => rest.replace(pattern, replacement), text)
}

/** Where the text must end, so that nothing of a secret is shown; undefined: it can be shown as a whole. */
function findOpen(text: string, { pattern, open }: Shape): number | undefined {
  open.lastIndex = 0
  let found = open.exec(text)
  if (found === null) return undefined
  const wholes = [...text.matchAll(pattern)]
  for (; found !== null; found = open.exec(text)) {
    const { index, groups } = found
    const inside = wholes.find((whole) => whole.index < index && index < whole.index + whole[0].length)
    // What begins inside of a whole secret is a part of it.
    if (inside === undefined) return index + (groups?.kept?.length ?? 0)
    open.lastIndex = inside.index + inside[0].length
  }
  return undefined
}

/** A prefix of the result of cutShapes, however the line continues. */
export function cutOpenShapes(text: string, level: ShapeLevel): string {
  return levels[level].reduce((rest, shape) => {
    return rest.slice(0, findOpen(rest, shape)).replace(shape.pattern, shape.replacement)
  }, text)
}

const secretName = new RegExp(`(?:${names}|authorization)$`, 'i')

/** Whether a field of this name holds a secret. */
export function isSecretName(name: string): boolean {
  return secretName.test(name)
}
