// Parses a signed token strictly: where a lenient parser accepts something, two parsers can disagree.
import { isJsonObject, tryParseJson } from '../lib/json.ts'

/** Larger ones are ignored; Node refuses headers of more than 16 KiB anyway. */
const maxTokenLength = 16_384
const maxDepth = 16

/** The `typ` of context tokens, exactly so: no prefix, no other case (CTX-004). */
export const contextTokenType = 'txntoken+jwt'

export type JoseHeader = { alg: string; kid?: string; typ?: string }
export type TokenParts = { header: JoseHeader; claims: Record<string, unknown> }

/**
 * Headers that bring their own key or change how a token is read. None is ever used, and a token that has one is
 * refused, because its sender hopes for a reader that uses it (RFC 8725 section 3.10, RFC 7515 section 4.1.11).
 */
const forbiddenHeaders = ['jwk', 'jku', 'x5u', 'x5c', 'crit', 'b64', 'enc', 'zip']

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Accepts only the one base64url spelling of the bytes. */
function decodePart(part: string): Buffer | undefined {
  const bytes = Buffer.from(part, 'base64url')
  return bytes.toString('base64url') === part ? bytes : undefined
}

const tokens = /"(?:[^"\\]|\\.)*(?:"(?<colon>[ \t\r\n]*:)?|\\?$)|[{}[\]]/gs

/** Keys so far of each open object; undefined for an array. */
type Open = (Set<string> | undefined)[]

function noteKey(key: string, keys: Set<string> | undefined): boolean {
  if (keys === undefined || keys.has(key)) return false
  keys.add(key)
  return true
}

function noteToken(text: string, isKey: boolean, open: Open): boolean {
  if (text === '{' || text === '[') return open.push(text === '{' ? new Set() : undefined) <= maxDepth
  if (text === '}' || text === ']') return open.splice(-1).length === 1
  return !isKey || noteKey(JSON.parse(text.slice(0, text.lastIndexOf('"') + 1)) as string, open.at(-1))
}

/**
 * Whether each object has unique keys (RFC 7519 section 4) and nothing is nested too deeply. The text is valid JSON, so
 * only strings, brackets and the colon after a key matter.
 */
function isUnambiguous(text: string): boolean {
  const open: Open = []
  for (const { 0: token, groups } of text.matchAll(tokens)) {
    if (!noteToken(token, groups?.colon !== undefined, open)) return false
  }
  return true
}

function parseObject(part: string): Record<string, unknown> | undefined {
  const bytes = decodePart(part)
  if (bytes === undefined) return undefined
  try {
    const text = decoder.decode(bytes)
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) && isUnambiguous(text) ? value : undefined
  } catch {
    return undefined
  }
}

function readHeader(value: Record<string, unknown> | undefined): JoseHeader | undefined {
  if (value === undefined || forbiddenHeaders.some((name) => Object.hasOwn(value, name))) return undefined
  const { alg, kid, typ } = value
  if (typeof alg !== 'string') return undefined
  if (kid !== undefined && (typeof kid !== 'string' || kid === '' || kid.length > 1024)) return undefined
  if (typ !== undefined && typeof typ !== 'string') return undefined
  return { alg, kid, typ }
}

const shape = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/

/** Whether it could be a JSON Web Token at all; other tokens need not be parsed. */
export function looksSigned(token: string): boolean {
  return token.length <= maxTokenLength && shape.test(token)
}

/** Header and claims of a token, still unverified; undefined when it is malformed. */
export function readToken(token: string): TokenParts | undefined {
  if (!looksSigned(token)) return undefined
  const [head = '', payload = '', signature = ''] = token.split('.')
  const header = readHeader(parseObject(head))
  const claims = parseObject(payload)
  if (header === undefined || claims === undefined || decodePart(signature) === undefined) return undefined
  return { header, claims }
}

/** What an unverified token says about itself, only used to choose who checks it; undefined for a malformed one. */
export function peekToken(token: string): { typ?: unknown; iss?: unknown } {
  if (!looksSigned(token)) return {}
  const [head = '', payload = ''] = token.split('.')
  return { typ: readLoosely(head).typ, iss: readLoosely(payload).iss }
}

function readLoosely(part: string): Record<string, unknown> {
  const value = tryParseJson(Buffer.from(part, 'base64url').toString('utf8'))
  return isJsonObject(value) ? value : {}
}
