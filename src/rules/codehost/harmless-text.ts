// Text of a model or a stranger as the code host may show it.

const blank = '\u200b'

/** `name:x:1000:1000:who it is:/home/name:/bin/sh`, as in /etc/passwd. */
const isAccount = ([name = '', , user = '', group = '', , home = '', shell = '']: string[]) =>
  /[\w-]$/.test(name) && [user, group].every((id) => /^\d{1,10}$/.test(id)) && home[0] === '/' && shell[0] === '/'

/** `name:$6$salt$hash:19000:0:99999:7:::`, as in /etc/shadow. */
const isPassword = ([name = '', hash = '', ...days]: string[]) =>
  /[\w-]$/.test(name) &&
  /^[$*!]/.test(hash) &&
  days.length === 5 &&
  days.slice(0, 4).every((day) => /^\d{0,6}$/.test(day))

/** Whether a file that a machine keeps about its accounts has the line: an obedient model copies them out of its sandbox. */
function hasAccountEntry(line: string): boolean {
  const fields = line.split(':')
  return fields.some((_, at) => {
    const entry = fields.slice(at, at + 7)
    return isAccount(entry) || isPassword(entry)
  })
}

/**
 * Text that does nothing at the code host: no entry of a machine's accounts, no mention, no reference that shows elsewhere, no comment that hides, no command, no
 * image that is fetched, no HTML, no suggestion that one click commits.
 */
export function neutralize(text: string): string {
  return text
    .split('\n')
    .map((line) => (hasAccountEntry(line) ? '[a line with an entry of a machine’s accounts is left out]' : line))
    .join('\n')
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
