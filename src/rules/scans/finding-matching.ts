// Which known finding a reported one is: the same after lines moved, a file was renamed, or a reviewer quoted other lines.
import { createHash } from 'node:crypto'
import type { Finding } from '../../contract/api/scans/findings.ts'
import { isCodeGone, squeeze, type VerifiedEvidence } from './finding-evidence.ts'

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
export function weaknessFamilyOf(category: string): string {
  const words = plain(category)
  return families.find(([, pattern]) => pattern.test(words))?.[0] ?? words.replaceAll(' ', '-')
}

/** Lines of a quote that say something, without blanks. */
function quotedLines(quote: string): string[] {
  return quote
    .split('\n')
    .map(squeeze)
    .filter((line) => line !== '')
}

const advisory = /\b(?:CVE-\d{4}-\d{3,}|GHSA(?:-[a-z0-9]{4}){3})\b/i

/** The weakness of a dependency that a rule of a scanner is about; undefined: it is about code. */
export function advisoryOf(ruleID: string | undefined): string | undefined {
  return advisory.exec(ruleID ?? '')?.[0].toUpperCase()
}

/** What of a scanner's result tells it from others at the same place. */
export type ScannerRule = {
  tool: string
  id: string
  /** What the scanner knows the result by. */
  prints?: string | undefined
  text: string
}

/** What a finding is about. */
type Anchor = Pick<VerifiedEvidence, 'quote' | 'symbol'> & { category: string; rule?: ScannerRule }

/**
 * `copy`: 0, or what tells findings apart which are the same but for where they are: code that was copied is weak at each
 * location. Of a scanner's, the rule is a part of it: what one rule says is never what another one does.
 */
export function fingerprintOf({ category, quote, symbol = '', rule }: Anchor, copy: number | string = 0): string {
  const code = [symbol, quotedLines(quote).join('\n')]
  const version = rule === undefined ? 3 : 4
  const about =
    rule === undefined
      ? [weaknessFamilyOf(category), ...code]
      : [rule.id, ...(rule.prints === undefined ? code : [rule.prints])]
  const parts = [version, ...about, ...(copy === 0 ? [] : [copy])]
  return `v${version}:${createHash('sha256').update(JSON.stringify(parts)).digest('hex')}`
}

/** What of a stored finding tells it from others. */
export type MatchableFinding = Pick<Finding, 'fingerprint' | 'category' | 'filePath' | 'evidence'> &
  Partial<Pick<Finding, 'importedFrom' | 'ruleID' | 'scanRunID' | 'summary'>>

/** A reported finding, by its first evidence. */
type Reported = Anchor & { path: string; startLine: number; endLine: number }

type Matching = {
  known: readonly MatchableFinding[]
  /** New path to the former one. */
  renamed?: ReadonlyMap<string, string>
  /** The run that reports: what it has stored itself has not moved since. */
  run?: string
  /** The lines of a file of the tree; undefined: it is gone. */
  linesOf(path: string): Promise<readonly string[] | undefined>
}

/** Copies of one piece of code that are told apart. */
const maxCopies = 1000
/** Shorter lines (`}`, `return`) stand everywhere. */
const tellingLine = 8

const locationOf = ({ path, startLine, endLine, rule }: Reported) =>
  [`${path}:${startLine}`, ...(rule === undefined ? [] : [endLine, rule.text])].join('\0')

export class FindingMatcher {
  readonly #byFingerprint: Map<string, MatchableFinding>
  readonly #byPath: Map<string, MatchableFinding[]>
  readonly #former: ReadonlyMap<string, string>
  readonly #linesOf: Matching['linesOf']
  readonly #run: string | undefined
  /** Fingerprints of this review, with the location that each was assigned to. */
  readonly #assigned = new Map<string, string>()
  /** By the fingerprint of the first. */
  readonly #copies = new Map<string, MatchableFinding[]>()

  constructor({ known, renamed = new Map(), run, linesOf }: Matching) {
    this.#byFingerprint = new Map(known.map((one) => [one.fingerprint, one]))
    this.#byPath = Map.groupBy(known, ({ filePath = '' }) => filePath)
    this.#former = renamed
    this.#linesOf = linesOf
    this.#run = run
  }

  isKnown(fingerprint: string): boolean {
    return this.#byFingerprint.has(fingerprint)
  }

  /** Undefined: it is one that this review has reported already. */
  async identify(reported: Reported): Promise<string | undefined> {
    const location = locationOf(reported)
    const copies = this.#listCopies(reported)
    const fingerprint =
      (await this.#findExact(reported, copies, location)) ??
      this.#findOverlapping(reported) ??
      this.#makeCopy(reported, copies, location)
    if (this.#assigned.has(fingerprint)) return undefined
    this.#assigned.set(fingerprint, location)
    return fingerprint
  }

  #isHere({ filePath }: MatchableFinding, path: string): boolean {
    return filePath === path || filePath === this.#former.get(path)
  }

  /** Of the copies that are known: the one here, of the same text if there are more; else the first one that has moved here. */
  async #findExact(reported: Reported, copies: readonly MatchableFinding[], location: string) {
    const again = copies.find((one) => this.#assigned.get(one.fingerprint) === location)
    if (again !== undefined) return again.fingerprint
    const open = copies.filter(({ fingerprint }) => !this.#assigned.has(fingerprint))
    const here = open.filter((known) => this.#isHere(known, reported.path))
    const found = here.find(({ summary }) => summary === reported.rule?.text) ?? here[0]
    if (found !== undefined) return found.fingerprint
    for (const known of open) if (await this.#isGone(known)) return known.fingerprint
    return undefined
  }

  /** Known ones and those of this review, which have the same fingerprint but for the copy. */
  #listCopies(reported: Reported): MatchableFinding[] {
    const first = fingerprintOf(reported)
    const listed = this.#copies.get(first)
    if (listed !== undefined) return listed
    const copies: MatchableFinding[] = []
    for (let copy = 0; copy < maxCopies; copy += 1) {
      const known = this.#byFingerprint.get(fingerprintOf(reported, copy))
      if (known === undefined) break
      copies.push(known)
    }
    this.#copies.set(first, copies)
    return copies
  }

  /** Whether the known location no longer has the code: it has moved to where it is reported. */
  async #isGone(known: MatchableFinding): Promise<boolean> {
    if (known.scanRunID !== undefined && known.scanRunID === this.#run) return false
    return isCodeGone(known, known.filePath === undefined ? undefined : await this.#linesOf(known.filePath))
  }

  /** Of the same class, in the same file and function, about some of the same lines. */
  #findOverlapping({ path, category, symbol, quote, rule }: Reported): string | undefined {
    const family = weaknessFamilyOf(category)
    const lines = new Set(quotedLines(quote).filter((line) => line.length >= tellingLine))
    const here = [...(this.#byPath.get(path) ?? []), ...(this.#byPath.get(this.#former.get(path) ?? '') ?? [])]
    const isSame = (known: MatchableFinding) =>
      weaknessFamilyOf(known.category ?? '') === family &&
      mayBeOf(known, rule) &&
      known.evidence[0]?.symbol === symbol &&
      quotedLines(known.evidence[0]?.quote ?? '').some((line) => lines.has(line))
    return here.find((known) => !this.#assigned.has(known.fingerprint) && isSame(known))?.fingerprint
  }

  /** One that is beyond what is counted is known by its location alone. */
  #makeCopy(reported: Reported, copies: MatchableFinding[], location: string): string {
    if (copies.length >= maxCopies) return fingerprintOf(reported, location)
    for (let copy = copies.length; ; copy += 1) {
      const fingerprint = fingerprintOf(reported, copy)
      if (this.#byFingerprint.has(fingerprint) || this.#assigned.has(fingerprint)) continue
      copies.push({ fingerprint, evidence: [] })
      return fingerprint
    }
  }
}

/** One scanner's rules are told apart, and weaknesses of dependencies by whomever they are reported. */
function mayBeOf({ importedFrom, ruleID }: MatchableFinding, rule: ScannerRule | undefined): boolean {
  if (advisoryOf(ruleID) !== advisoryOf(rule?.id)) return false
  return rule === undefined || ruleID === undefined || importedFrom !== rule.tool || ruleID === rule.id
}
