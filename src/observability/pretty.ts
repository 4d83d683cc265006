// Turns one JSON log line into one readable line for a terminal.

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
export function formatPretty(line: string, colors: boolean): string {
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
