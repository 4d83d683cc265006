// Text of a model or a stranger as the code host may show it.

const blank = '\u200b'

/**
 * Text that does nothing at the code host: no mention, no reference that shows elsewhere, no comment that hides, no command, no
 * image that is fetched, no HTML, no suggestion that one click commits.
 */
export function neutralize(text: string): string {
  return text
    .replaceAll('@', `@${blank}`)
    .replace(/#(?=\d)/g, `#${blank}`)
    .replace(/\b(GH)-(?=\d)/gi, `$1${blank}-`)
    .replace(/(`{3}|~{3})(?=[ \t]*suggestion)/gi, `$1${blank}`)
    .replaceAll('<!--', `<${blank}!--`)
    .replaceAll('-->', `--${blank}>`)
    .replaceAll('![', `!${blank}[`)
    .replace(/<(?=[a-z/])/gi, `<${blank}`)
    .replace(/^([^\S\n\r\u2028\u2029]*)\//gm, `$1${blank}/`)
}

const maxDepth = 4
const fence = '```'

/** Its strings, numbers and words, each below the name that it has; what lies deeper is left out. */
function listLeaves(value: unknown, depth = 0): string[] {
  if (value === null || typeof value !== 'object') return [String(value)]
  if (depth === maxDepth) return []
  const indent = '  '.repeat(depth)
  return Object.entries(value).flatMap(([key, inner]) => {
    const [first = '', ...rest] = listLeaves(inner, depth + 1)
    const isLeaf = inner === null || typeof inner !== 'object'
    const name = Array.isArray(value) ? '' : `**${key}**: `
    return isLeaf ? [`${indent}- ${name}${first}`] : [`${indent}- ${name}`, first, ...rest]
  })
}

function unfence(text: string): string {
  const isFenced = text.startsWith(`${fence}json`) && text.endsWith(fence)
  return isFenced ? text.slice(text.indexOf('\n') + 1, -fence.length).trim() : text
}

/** An answer for people: one that a model gave as JSON is told as a list. */
export function toProse(answer: string): string {
  const text = unfence(answer.trim())
  if (!text.startsWith('{') && !text.startsWith('[')) return answer
  try {
    const leaves = listLeaves(JSON.parse(text))
    return leaves.length === 0 ? 'The answer is empty.' : leaves.join('\n')
  } catch {
    return text.startsWith('{') ? 'The answer is data and no text; it is the result of the task.' : answer
  }
}
