// From the answer of a reviewer to findings: what is false is dropped (validation), what is no weakness (filter), and what
// is too much (cap), each with its reason; the others get the fingerprint by which they are known again.
import type { FindingDraft } from '../../contract/api/scans/findings.ts'
import { confidences, severities } from '../../contract/kinds/scans/repository-scan.ts'
import { type FindingCandidate, readCandidate } from './candidate.ts'
import {
  DropList,
  type DroppedCandidate,
  draftOf,
  type Sample,
  sampleOf,
  type VerifiedFinding,
} from './finding-drafts.ts'
import { checkEvidence, type Shown, type SourceText, type VerifiedEvidence } from './finding-evidence.ts'
import { filterFinding } from './finding-filter.ts'
import { FindingMatcher, type MatchableFinding } from './finding-matching.ts'
import type { ReviewContext } from './review-context.ts'
import { readReviewAnswer } from './validation-answer.ts'

export type SliceReview = {
  /** The answer as it came. */
  text: string
  /** Id of the slice that was reviewed. */
  sliceId: string
  /** What its reviewer was shown. */
  context: Pick<ReviewContext, 'includedFiles'>
  run: { id: string; taskName: string }
  /** `maxFindingsPerRun`, and how many new ones the run may still accept. */
  cap: { max: number; left: number }
  /** Stored findings of the scan; at least those of the files shown. */
  known: readonly MatchableFinding[]
  /** New path to the former one, since these were stored. */
  renamed?: ReadonlyMap<string, string>
  /** A file at the commit that was reviewed; undefined: there is none. */
  readSource(path: string): Promise<SourceText | undefined>
}

export type IngestedReview = { accepted: FindingDraft[]; dropped: DroppedCandidate[] }

/** Findings that are looked at; the others are counted in one record. */
const maxCandidates = 1000
/** `filtered`: why it would be dropped, if it were new. */
type JudgedFinding = { at: number; finding: VerifiedFinding; filtered?: string }

/** The gravest first: what does not fit is the least of them. */
function byGravity(a: JudgedFinding, b: JudgedFinding): number {
  const severity = severities.indexOf(a.finding.severity) - severities.indexOf(b.finding.severity)
  const confidence = confidences.indexOf(a.finding.confidence) - confidences.indexOf(b.finding.confidence)
  return severity || confidence || a.at - b.at
}

class Ingest {
  readonly #review: Omit<SliceReview, 'text'>
  readonly #shown: Shown
  readonly #sources = new Map<string, Promise<SourceText | undefined>>()
  readonly #drops: DropList

  constructor(review: Omit<SliceReview, 'text'>) {
    this.#review = review
    this.#drops = new DropList(review)
    const readable = review.context.includedFiles.filter((file) => file.readable)
    this.#shown = new Map(
      [...Map.groupBy(readable, ({ path }) => path)].map(([path, files]) => [
        path,
        files.flatMap((file) => file.includedLineRanges),
      ]),
    )
  }

  #readSource(path: string): Promise<SourceText | undefined> {
    const source = this.#sources.get(path) ?? this.#review.readSource(path)
    this.#sources.set(path, source)
    return source
  }

  get dropped(): DroppedCandidate[] {
    return this.#drops.list
  }

  async judge(items: readonly unknown[]): Promise<JudgedFinding[]> {
    const judged: JudgedFinding[] = []
    for (const [at, item] of items.slice(0, maxCandidates).entries()) {
      const finding = await this.#validate(item, at)
      if (finding === undefined) continue
      const filtered = filterFinding(finding)
      judged.push({ at, finding, ...(filtered !== undefined && { filtered }) })
    }
    const count = items.length - maxCandidates
    if (count > 0) this.#drops.add('cap', maxCandidates, this.#capReason(), { count })
    return judged.sort(byGravity)
  }

  async #validate(item: unknown, at: number): Promise<VerifiedFinding | undefined> {
    const candidate = readCandidate(item)
    if ('reason' in candidate) {
      const { title, category, severity } = (item ?? {}) as Sample
      return void this.#drops.add('validation', at, candidate.reason, { title, category, severity })
    }
    const evidence = await this.#verify(candidate)
    if ('reason' in evidence) return void this.#drops.add('validation', at, evidence.reason, sampleOf(candidate))
    return { ...candidate, evidence: evidence.verified }
  }

  async #verify({ evidence }: FindingCandidate): Promise<{ verified: VerifiedEvidence[] } | { reason: string }> {
    const verified: VerifiedEvidence[] = []
    for (const one of evidence) {
      const source = this.#shown.has(one.path) ? await this.#readSource(one.path) : undefined
      const checked = checkEvidence(one, this.#shown, source)
      if ('reason' in checked) return checked
      verified.push(checked)
    }
    return { verified }
  }

  #capReason(): string {
    return `maxFindingsPerRun limit ${this.#review.cap.max} reached`
  }

  /**
   * What is known and reported again is no matter of filter and cap: it would count as fixed. New ones come after all that
   * pass the filter, so that none of those is taken for a copy of one that does not.
   */
  async accept(judged: readonly JudgedFinding[]): Promise<FindingDraft[]> {
    const { known, renamed } = this.#review
    const linesOf = async (path: string) => (await this.#readSource(path))?.lines
    const matcher = new FindingMatcher({ known, ...(renamed && { renamed }), linesOf })
    const ordered = [
      ...judged.filter(({ filtered }) => filtered === undefined),
      ...judged.filter(({ filtered }) => filtered !== undefined),
    ]
    const accepted: FindingDraft[] = []
    let left = this.#review.cap.left
    for (const one of ordered) {
      const fingerprint = await this.#identify(matcher, one)
      if (fingerprint === undefined) continue
      const isKnown = matcher.isKnown(fingerprint)
      if (!isKnown && this.#dropNew(one, left)) continue
      if (!isKnown) left -= 1
      accepted.push(draftOf(one.finding, fingerprint))
    }
    return accepted
  }

  async #identify(matcher: FindingMatcher, { finding }: JudgedFinding): Promise<string | undefined> {
    const [first] = finding.evidence
    return first && (await matcher.identify({ ...first, category: finding.category }))
  }

  #dropNew({ at, finding, filtered }: JudgedFinding, left: number): boolean {
    if (filtered !== undefined) {
      const { confidence, evidence } = finding
      this.#drops.add('filter', at, filtered, { ...sampleOf(finding), confidence, filePath: evidence[0]?.path })
    } else if (left <= 0) this.#drops.add('cap', at, this.#capReason(), sampleOf(finding))
    return filtered !== undefined || left <= 0
  }
}

/** A fault when nothing of the answer can be used: the review of the slice has failed. */
export async function ingestReview(review: SliceReview): Promise<IngestedReview | { fault: string }> {
  const answer = readReviewAnswer(review.text, review.sliceId)
  if ('fault' in answer) return answer
  const ingest = new Ingest(review)
  const accepted = await ingest.accept(await ingest.judge(answer.findings))
  return { accepted, dropped: ingest.dropped }
}
