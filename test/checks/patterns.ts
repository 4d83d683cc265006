// Regular expressions of the sources as data, and whether each takes linear time on any text.
import { createRequire } from 'node:module'
import { parseSync, Visitor } from 'oxc-parser'
import { listFiles, readSource } from './source-tree.ts'

// The checker that needs no other program: its package starts one of Java or for one platform.
const { checkSync } = createRequire(import.meta.url)('recheck/lib/browser.js') as typeof import('recheck')

export type Pattern = { path: string; line: number; source: string; flags: string }
/** `new RegExp(...)`, whose pattern only the running program knows. */
export type Construction = { path: string; line: number }

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

function readPatterns(path: string) {
  const text = readSource(path)
  const literals: Pattern[] = []
  const constructions: Construction[] = []
  const note = (node: { callee: { type: string; name?: string }; start: number }) => {
    if (node.callee.name === 'RegExp') constructions.push({ path, line: lineAt(text, node.start) })
  }
  new Visitor({
    Literal(node) {
      if (!('regex' in node)) return
      literals.push({ path, line: lineAt(text, node.start), source: node.regex.pattern, flags: node.regex.flags })
    },
    NewExpression: (node) => note(node as never),
    CallExpression: (node) => note(node as never),
  }).visit(parseSync(path, text).program)
  return { literals, constructions }
}

/** Everything that is written as a pattern in what is delivered. */
export function listPatterns(): { literals: Pattern[]; constructions: Construction[] } {
  const files = [...listFiles('src', ['.ts']), ...listFiles('dashboard/src', ['.ts', '.tsx'])]
  const read = files.filter((path) => !/\.test\.tsx?$/.test(path)).map(readPatterns)
  return {
    literals: read.flatMap(({ literals }) => literals),
    constructions: read.flatMap(({ constructions }) => constructions),
  }
}

const atom = /\\(?:u\{[^}]*\}|u[\dA-Fa-f]{4}|x[\dA-Fa-f]{2}|[pP]\{[^}]*\}|k<[^>]*>|[^])|\[(?:\\[^]|[^\]\\])*\]|[^]/y
const repeat = /\{(\d+)(,?)(\d*)\}/y

function readAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

function capRepeat([, least = '', comma = '', most = '']: RegExpExecArray): string {
  const low = Math.min(Number(least), 1)
  if (comma === '') return Number(least) < 2 ? `{${least}}` : '{2}'
  return most === '' ? (low === 0 ? '*' : '+') : `{${low},${Math.min(Number(most), 2)}}`
}

/**
 * A pattern that takes linear time exactly if the given one does, and is proved sooner: a bounded repeat is only a factor, and a
 * pattern that ignores case works like its lower case on lower case.
 */
function simplify(source: string, ignoresCase: boolean): string {
  let out = ''
  for (let at = 0; at < source.length; ) {
    const counted = readAt(repeat, source, at)
    const whole = counted?.[0] ?? readAt(atom, source, at)?.[0] ?? ''
    const isEscape = whole.startsWith('\\')
    out += counted !== null ? capRepeat(counted) : ignoresCase && !isEscape ? lower(whole) : whole
    at += whole.length
  }
  return out.replace(/\(\?<(?![=!])[^>]*>/g, '(')
}

function lower(text: string): string {
  return text.replace(/\\[^]|[A-Z]/g, (part) => (part.startsWith('\\') ? part : part.toLowerCase()))
}

/** Index behind the group that opens at `at`. */
function endOfGroup(source: string, at: number): number {
  let depth = 0
  for (let next = at; next < source.length; ) {
    const whole = readAt(atom, source, next)?.[0] ?? ''
    next += whole.length
    if (whole === '(') depth += 1
    if (whole === ')') depth -= 1
    if (depth === 0) return next
  }
  return source.length
}

/** The alternatives of a pattern, apart from those in its groups. */
function splitAlternatives(source: string): string[] {
  const parts = ['']
  for (let at = 0; at < source.length; ) {
    const whole = source[at] === '(' ? source.slice(at, endOfGroup(source, at)) : (readAt(atom, source, at)?.[0] ?? '')
    at += whole.length
    if (whole === '|') parts.push('')
    else parts[parts.length - 1] += whole
  }
  return parts
}

const maxSplits = 300

/**
 * Patterns without alternatives whose times add up to that of the given one: outside of loops a search tries alternatives one after
 * the other. Proofs of each are many times faster than one of all.
 */
function split(source: string): string[] {
  const alternatives = splitAlternatives(source)
  if (alternatives.length > 1) return alternatives.flatMap(split)
  let heads = ['']
  for (let at = 0; at < source.length; ) {
    const end = source[at] === '(' ? endOfGroup(source, at) : at + (readAt(atom, source, at)?.[0].length ?? 1)
    const whole = source.slice(at, end)
    const inner = /^\((?:\?:)?(?!\?)([^]*)\)$/.exec(whole)?.[1]
    const isLoop = '*+?{'.includes(source[end] ?? ' ')
    const tails = inner === undefined || isLoop ? [whole] : split(inner).map((part) => `(?:${part})`)
    heads =
      heads.length * tails.length > maxSplits
        ? heads.map((head) => head + whole)
        : heads.flatMap((head) => tails.map((tail) => head + tail))
    at = end
  }
  return heads
}

export type Doubt = { source: string; reason: string }

const hasReferences = /\\[1-9]|\\k</
const hasLooks = /\(\?<?[=!]/
const timeoutMs = 10_000

/**
 * What keeps the pattern from being proved linear, as a search from any place of a text; undefined: it is proved. Patterns with
 * looks or references are beyond a proof: attacks on them are searched for.
 */
export function findDoubt({ source, flags }: Pick<Pattern, 'source' | 'flags'>): Doubt | undefined {
  const simple = simplify(source, flags.includes('i'))
  const parts = hasReferences.test(simple) ? [simple] : [...new Set(split(simple))]
  const kept = flags.replace(/[vdgi]/g, '')
  for (const part of parts) {
    const checker = hasLooks.test(part) || hasReferences.test(part) ? 'fuzz' : 'automaton'
    const result = checkSync(part, kept, {
      checker,
      timeout: timeoutMs,
      recallTimeout: -1,
      maxAttackStringSize: 20_000,
    })
    if (result.status === 'vulnerable')
      return { source: part, reason: `${result.complexity.summary}: ${result.attack.pattern}` }
    if (result.status === 'unknown') return { source: part, reason: result.error.kind }
  }
  return undefined
}
