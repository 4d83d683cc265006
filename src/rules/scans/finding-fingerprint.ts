// The fingerprint of a finding: what it is about, by class of weakness, quote and enclosing symbol. No line, path, title or
// severity is in it: lines move, files are renamed, and a model words things anew.
import { createHash } from 'node:crypto'
import { squeeze, type VerifiedEvidence } from './finding-evidence.ts'

/** Words that reviewers use for the same class of weakness; the first that applies. */
const families: [string, RegExp][] = [
  ['sql-injection', /\b(no)?sql(i|injection)?\b|cwe(89|564|943)\b/],
  ['prompt-injection', /prompt injection/],
  ['command-injection', /\b(command|shell|os) (command )?(injection|execution)|\brce\b|cwe(77|78)\b/],
  ['code-injection', /\b(code|eval|template|expression) ?(injection|execution)|\bssti\b|\beval\b|cwe(94|95|1336)\b/],
  ['ldap-injection', /\bldap|cwe90\b/],
  ['xpath-injection', /\bxpath|cwe643\b/],
  ['xss', /\bxss\b|cross site scripting|cwe(79|80)\b/],
  ['path-traversal', /path traversal|directory traversal|pathtraver|zip slip|file inclusion|cwe(22|23|36|73)\b/],
  ['ssrf', /\bssrf\b|server side request|cwe918\b/],
  ['xxe', /\bxxe\b|external entit|cwe611\b/],
  ['csrf', /\bcsrf\b|cross site request|cwe352\b/],
  ['open-redirect', /redirect|cwe601\b/],
  ['deserialization', /deserial|unpickl|pickle|cwe502\b/],
  ['weak-random', /random|cwe(330|338)\b/],
  ['weak-crypto', /crypto|cipher|hash|cwe(326|327|328|759|760|916)\b/],
  ['hardcoded-secret', /hard ?coded|embedded (secret|credential)|cwe(259|321|798)\b/],
  ['missing-authorization', /authori[sz]ation|access control|\bidor\b|\bbola\b|privilege|cwe(284|285|639|862|863)\b/],
  ['missing-authentication', /authenticat|cwe(287|306)\b/],
  ['tls', /\btls\b|\bssl\b|certificate|cwe295\b/],
  ['information-disclosure', /sensitive|disclosure|exposure|leak|\blog(ging)?\b|cwe(200|209|532)\b/],
]

const plain = (text: string) =>
  text
    .toLowerCase()
    .replace(/cwe[-_ ]?0*(\d+)/g, 'cwe$1')
    .replace(/[^a-z0-9]+/g, ' ')
    .trim()

/** The class of weakness that a category is another word for. */
export function familyOf(category: string): string {
  const words = plain(category)
  return families.find(([, pattern]) => pattern.test(words))?.[0] ?? words.replaceAll(' ', '-')
}

/** Lines of a quote that say something, without blanks. */
export function quotedLines(quote: string): string[] {
  return quote
    .split('\n')
    .map(squeeze)
    .filter((line) => line !== '')
}

/** What a finding is about. */
export type Anchor = Pick<VerifiedEvidence, 'quote' | 'symbol'> & { category: string }

/**
 * `copy`: 0, or a number that tells findings apart which are the same but for the file they are in: code that was copied
 * is weak in each place.
 */
export function fingerprintOf({ category, quote, symbol = '' }: Anchor, copy = 0): string {
  const parts = [3, familyOf(category), symbol, quotedLines(quote).join('\n'), ...(copy > 0 ? [copy] : [])]
  return `v3:${createHash('sha256').update(JSON.stringify(parts)).digest('hex')}`
}
