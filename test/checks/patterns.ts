// Regular expressions of the sources as data, and whether each takes linear time on any text.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'
import { listFiles, readSource, root } from './source-tree.ts'

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

const atom =
  /\\(?:u\{[^}]*\}|u[\dA-Fa-f]{4}|x[\dA-Fa-f]{2}|[pP]\{[^}]*\}|k<[^>]*>|[\s\S])|\[(?:\\[\s\S]|[^\]\\])*\]|[\s\S]/y
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
  return text.replace(/\\[\s\S]|[A-Z]/g, (part) => (part.startsWith('\\') ? part : part.toLowerCase()))
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

/** Written by `npm run prove-patterns`. */
export const provedList = 'test/checks/proved-patterns.txt'

const maxSplits = 300

type Piece = { whole: string; isLoop: boolean }

/** A pattern without alternatives as its characters, classes and groups. */
function* listPieces(source: string): Generator<Piece> {
  for (let at = 0; at < source.length; ) {
    const end = source[at] === '(' ? endOfGroup(source, at) : at + (readAt(atom, source, at)?.[0].length ?? 1)
    yield { whole: source.slice(at, end), isLoop: '*+?{'.includes(source[end] ?? ' ') }
    at = end
  }
}

function splitPiece({ whole, isLoop }: Piece): string[] {
  const inner = /^\((?:\?:)?(?!\?)([\s\S]*)\)$/.exec(whole)?.[1]
  return inner === undefined || isLoop ? [whole] : split(inner).map((part) => `(?:${part})`)
}

/**
 * Patterns without alternatives whose times add up to that of the given one: outside of loops a search tries alternatives one after
 * the other. Proofs of each are many times faster than one of all.
 */
function split(source: string): string[] {
  const alternatives = splitAlternatives(source)
  if (alternatives.length > 1) return alternatives.flatMap(split)
  return [...listPieces(source)].reduce<string[]>(
    (heads, piece) => {
      const tails = splitPiece(piece)
      if (heads.length * tails.length > maxSplits) return heads.map((head) => head + piece.whole)
      return heads.flatMap((head) => tails.map((tail) => head + tail))
    },
    [''],
  )
}

/** A line starts behind the end of another: proofs with the flag for lines take many times as long. */
function replaceLineStart(source: string): string {
  const anchors = source
    .replace(/\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|\(\?<?!/g, '')
    .match(/[$^]/g)
    ?.join('')
  if (!source.startsWith('^') || (anchors !== '^' && anchors !== '^$')) return source
  if (anchors === '^') return `\\n${source.slice(1)}`
  return source.endsWith('$') ? `\\n${source.slice(1, -1)}(?:\\n|$)` : source
}

export type Doubt = { source: string; reason: string }

const isBeyondProof = /\\[1-9]|\\k<|\(\?<?[=!]/

function doubtOf(source: string, flags: string, timeout: number): Doubt | undefined {
  const checker = isBeyondProof.test(source) ? 'fuzz' : 'automaton'
  const result = checkSync(source, flags, { checker, timeout, recallTimeout: -1, maxAttackStringSize: 20_000 })
  if (result.status === 'safe') return undefined
  if (result.status === 'unknown') return { source, reason: result.error.kind }
  return { source, reason: `${result.complexity.summary}: ${result.attack.pattern}` }
}

/**
 * What keeps the pattern from being proved linear, as a search from any place of a text; undefined: it is proved. Patterns with
 * looks or references are beyond a proof: attacks on them are searched for.
 */
export function findDoubt({ source, flags }: Pick<Pattern, 'source' | 'flags'>): Doubt | undefined {
  const simpler = simplify(source, flags.includes('i'))
  const simple = flags.includes('m') ? replaceLineStart(simpler) : simpler
  const kept = flags.replace(simple === simpler ? /[vdgi]/g : /[vdgim]/g, '')
  const whole = doubtOf(simple, kept, 2000)
  if (whole?.reason !== 'timeout' || /\\[1-9]|\\k</.test(simple)) return whole
  for (const part of new Set(split(simple))) {
    const doubt = doubtOf(part, kept, 60_000)
    if (doubt !== undefined) return doubt
  }
  return undefined
}

/** As a line of the list of those that are proved. */
export const nameOf = ({ source, flags }: Pick<Pattern, 'source' | 'flags'>) => `/${source}/${flags}`

/**
 * Patterns that a file builds while it is loaded, which stand in no literal. It is loaded anew for this, with a constructor that
 * notes them.
 */
async function listBuilt(path: string): Promise<Pattern[]> {
  const built: Pattern[] = []
  const original = globalThis.RegExp
  globalThis.RegExp = new Proxy(original, {
    construct(target, [source, flags = '']: [string | RegExp, string?]) {
      if (typeof source === 'string') built.push({ path, line: 0, source, flags })
      return new target(source, flags)
    },
  })
  try {
    await import(`${join(root, path)}?built`)
  } finally {
    globalThis.RegExp = original
  }
  return built
}

/** One file after the other: the constructor is one for all. */
export async function listAllBuilt(paths: readonly string[]): Promise<Pattern[]> {
  const built: Pattern[] = []
  for (const path of paths) built.push(...(await listBuilt(path)))
  return built
}
