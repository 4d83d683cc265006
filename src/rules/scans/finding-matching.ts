// Which known finding a reported one is: the same after lines moved, a file was renamed, or a reviewer quoted other lines.
import type { Finding } from '../../contract/api/scans/findings.ts'
import { squeeze } from './finding-evidence.ts'
import { type Anchor, familyOf, fingerprintOf, quotedLines } from './finding-fingerprint.ts'

/** What of a stored finding tells it from others. */
export type KnownFinding = Pick<Finding, 'fingerprint' | 'category' | 'filePath' | 'evidence'>

/** A reported finding, by its first evidence. */
export type Reported = Anchor & { path: string; startLine: number }

export type Matching = {
  known: readonly KnownFinding[]
  /** New path to the former one. */
  renamed?: ReadonlyMap<string, string>
  /** The lines of a file of the tree; undefined: it is gone. */
  linesOf(path: string): Promise<readonly string[] | undefined>
}

/** Copies of one piece of code that are told apart. */
const mostCopies = 1000
/** Shorter lines (`}`, `return`) stand everywhere. */
const tellingLine = 8

export class FindingMatcher {
  readonly #byFingerprint: Map<string, KnownFinding>
  readonly #byPath: Map<string, KnownFinding[]>
  readonly #former: ReadonlyMap<string, string>
  readonly #linesOf: Matching['linesOf']
  /** Fingerprints of this review, with the place that each was given to. */
  readonly #given = new Map<string, string>()

  constructor({ known, renamed = new Map(), linesOf }: Matching) {
    this.#byFingerprint = new Map(known.map((one) => [one.fingerprint, one]))
    this.#byPath = Map.groupBy(known, ({ filePath = '' }) => filePath)
    this.#former = renamed
    this.#linesOf = linesOf
  }

  isKnown(fingerprint: string): boolean {
    return this.#byFingerprint.has(fingerprint)
  }

  /** Undefined: it is one that this review has reported already. */
  async identify(reported: Reported): Promise<string | undefined> {
    const place = `${reported.path}:${reported.startLine}`
    const fingerprint =
      (await this.#findExact(reported, place)) ?? this.#findOverlapping(reported) ?? this.#findFree(reported)
    if (this.#given.has(fingerprint)) return undefined
    this.#given.set(fingerprint, place)
    return fingerprint
  }

  #isHere({ filePath }: KnownFinding, path: string): boolean {
    return filePath === path || filePath === this.#former.get(path)
  }

  /** Of the copies that are known: the one here, else the first one that has moved here. */
  async #findExact(reported: Reported, place: string): Promise<string | undefined> {
    const copies = this.#listCopies(reported)
    const again = copies.find((one) => this.#given.get(one.fingerprint) === place)
    if (again !== undefined) return again.fingerprint
    const open = copies.filter(({ fingerprint }) => !this.#given.has(fingerprint))
    const here = open.find((known) => this.#isHere(known, reported.path))
    if (here !== undefined) return here.fingerprint
    for (const known of open) if (await this.#isGone(known, reported.quote)) return known.fingerprint
    return undefined
  }

  /** Known ones and those of this review, which have the same fingerprint but for the copy. */
  #listCopies(reported: Reported): KnownFinding[] {
    const copies: KnownFinding[] = []
    for (let copy = 0; copy < mostCopies; copy += 1) {
      const fingerprint = fingerprintOf(reported, copy)
      const known = this.#byFingerprint.get(fingerprint)
      if (known === undefined && !this.#given.has(fingerprint)) break
      copies.push(known ?? { fingerprint, evidence: [] })
    }
    return copies
  }

  /** Whether the known place no longer has the code: it has moved to where it is reported. */
  async #isGone({ filePath }: KnownFinding, quote: string): Promise<boolean> {
    const lines = filePath === undefined ? undefined : await this.#linesOf(filePath)
    return lines === undefined || !squeeze(lines.join('\n')).includes(squeeze(quote))
  }

  /** Of the same class, in the same file and function, about some of the same lines. */
  #findOverlapping({ path, category, symbol, quote }: Reported): string | undefined {
    const family = familyOf(category)
    const lines = new Set(quotedLines(quote).filter((line) => line.length >= tellingLine))
    const here = [...(this.#byPath.get(path) ?? []), ...(this.#byPath.get(this.#former.get(path) ?? '') ?? [])]
    const isSame = ({ category: other = '', evidence: [first] }: KnownFinding) =>
      familyOf(other) === family &&
      first?.symbol === symbol &&
      quotedLines(first?.quote ?? '').some((line) => lines.has(line))
    return here.find((known) => !this.#given.has(known.fingerprint) && isSame(known))?.fingerprint
  }

  #findFree(reported: Reported): string {
    const copies = Array.from({ length: mostCopies }, (_, copy) => copy)
    const free = copies.find((copy) => {
      const fingerprint = fingerprintOf(reported, copy)
      return !this.#byFingerprint.has(fingerprint) && !this.#given.has(fingerprint)
    })
    return fingerprintOf(reported, free ?? mostCopies)
  }
}
