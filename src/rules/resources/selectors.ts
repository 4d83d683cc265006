// Label selectors in the syntax of Kubernetes: `a=b, c!=d, e in (x, y), f notin (z), g, !h, i > 5`.
// Grammar: https://pkg.go.dev/k8s.io/apimachinery/pkg/labels#Parse
import { SvcError } from '../../errors.ts'

type Wildcards = (text: string) => boolean

function matchesPattern(pattern: readonly string[], text: readonly string[]): boolean {
  let at = 0
  let star = -1
  let resume = 0
  for (let index = 0; index < text.length; ) {
    if (pattern[at] === '*') {
      star = at++
      resume = index
    } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === text[index])) {
      at++
      index++
    } else if (star >= 0) {
      at = star + 1
      index = ++resume
    } else return false
  }
  return pattern.slice(at).every((rest) => rest === '*')
}

/** Makes the check once for many texts. */
export function compileWildcards(pattern: string): Wildcards {
  const compiled = [...pattern.replace(/\*+/g, '*')]
  return (text) => matchesPattern(compiled, [...text])
}

/** Creates the check; an empty list allows nobody. */
export function createSubjectCheck(patterns: readonly string[]): (subject: string) => boolean {
  const checks = patterns.map(compileWildcards)
  return (subject) => checks.some((matches) => matches(subject))
}

export type LabelRequirement =
  | { operator: 'in' | 'notin'; key: string; values: string[] }
  | { operator: 'exists' | 'absent'; key: string }
  | { operator: 'above' | 'below'; key: string; bound: number }

type Token = { text: string; isWord: boolean; at: number }
type Cursor = { source: string; tokens: Token[]; next: number }

const tokenPattern = /(==|!=|[=!(),<>])|([^\s=!(),<>]+)/g
const keyPattern =
  /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/
const valuePattern = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/

function splitTokens(source: string): Token[] {
  return [...source.matchAll(tokenPattern)].map((match) => ({
    text: match[0],
    isWord: match[2] !== undefined,
    at: match.index,
  }))
}

function fail(cursor: Cursor, expected: string): never {
  const token = cursor.tokens[cursor.next]
  const found = token === undefined ? 'the end' : `"${token.text}" at position ${token.at + 1}`
  throw new SvcError('InvalidRequest', `labelSelector: found ${found}, expected ${expected}`)
}

function peekText(cursor: Cursor): string | undefined {
  return cursor.tokens[cursor.next]?.text
}

function takeSymbol(cursor: Cursor, symbol: string): boolean {
  const token = cursor.tokens[cursor.next]
  if (token === undefined || token.isWord || token.text !== symbol) return false
  cursor.next += 1
  return true
}

function takeWord(cursor: Cursor): string | undefined {
  const token = cursor.tokens[cursor.next]
  if (token?.isWord !== true) return undefined
  cursor.next += 1
  return token.text
}

function readKey(cursor: Cursor): string {
  const key = takeWord(cursor) ?? fail(cursor, 'a label key')
  const name = key.slice(key.indexOf('/') + 1)
  if (keyPattern.test(key) && name.length <= 63 && key.length - name.length <= 254) return key
  throw new SvcError('InvalidRequest', `labelSelector: "${key}" is not a label key like "team" or "example.com/team"`)
}

function readValue(cursor: Cursor): string {
  const value = takeWord(cursor) ?? ''
  if (valuePattern.test(value) && value.length <= 63) return value
  const rule = 'at most 63 letters, digits, "-", "_" and "."'
  throw new SvcError('InvalidRequest', `labelSelector: "${value}" is not a label value (${rule})`)
}

function readValueList(cursor: Cursor): string[] {
  if (!takeSymbol(cursor, '(')) fail(cursor, '"(" and values')
  const values = [readValue(cursor)]
  while (takeSymbol(cursor, ',')) values.push(readValue(cursor))
  if (!takeSymbol(cursor, ')')) fail(cursor, '"," or ")"')
  return [...new Set(values)]
}

function readBound(cursor: Cursor): number {
  const word = takeWord(cursor)
  if (word !== undefined && /^-?\d+$/.test(word)) return Number(word)
  cursor.next -= word === undefined ? 0 : 1
  return fail(cursor, 'a whole number')
}

function isAtEnd(cursor: Cursor): boolean {
  const text = peekText(cursor)
  return text === undefined || text === ','
}

function readComparison(cursor: Cursor, key: string): LabelRequirement {
  const operator = peekText(cursor)
  cursor.next += 1
  switch (operator) {
    case '=':
    case '==':
      return { operator: 'in', key, values: [readValue(cursor)] }
    case '!=':
      return { operator: 'notin', key, values: [readValue(cursor)] }
    case 'in':
    case 'notin':
      return { operator, key, values: readValueList(cursor) }
    case '>':
      return { operator: 'above', key, bound: readBound(cursor) }
    case '<':
      return { operator: 'below', key, bound: readBound(cursor) }
    default:
      cursor.next -= 1
      return fail(cursor, '"=", "!=", "in", "notin", ">" or "<"')
  }
}

function readRequirement(cursor: Cursor): LabelRequirement {
  if (takeSymbol(cursor, '!')) return { operator: 'absent', key: readKey(cursor) }
  const key = readKey(cursor)
  return isAtEnd(cursor) ? { operator: 'exists', key } : readComparison(cursor, key)
}

/**
 * The requirements of a selector, all of which must hold; an empty selector has none. Throws InvalidRequest naming the
 * fault.
 */
export function parseLabelSelector(source: string): LabelRequirement[] {
  const cursor: Cursor = { source, tokens: splitTokens(source), next: 0 }
  if (cursor.tokens.length === 0) return []
  const requirements = [readRequirement(cursor)]
  while (takeSymbol(cursor, ',')) requirements.push(readRequirement(cursor))
  if (cursor.next < cursor.tokens.length) fail(cursor, '"," or the end')
  return requirements
}

function compareBound(requirement: LabelRequirement & { bound: number }, value: string | undefined): boolean {
  if (value === undefined || !/^-?\d+$/.test(value)) return false
  return requirement.operator === 'above' ? Number(value) > requirement.bound : Number(value) < requirement.bound
}

function meetsRequirement(requirement: LabelRequirement, value: string | undefined): boolean {
  switch (requirement.operator) {
    case 'in':
      return value !== undefined && requirement.values.includes(value)
    case 'notin':
      return value === undefined || !requirement.values.includes(value)
    case 'exists':
      return value !== undefined
    case 'absent':
      return value === undefined
    default:
      return compareBound(requirement, value)
  }
}

/** Whether labels meet every requirement. A missing label satisfies `!=`, `notin` and `!key`. */
export function matchesLabels(requirements: LabelRequirement[], labels: Record<string, string> | undefined): boolean {
  return requirements.every((requirement) => {
    const { key } = requirement
    return meetsRequirement(requirement, labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined)
  })
}
