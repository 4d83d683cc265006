// Findings of a scanner, checked against the files at a commit: what does not stand there is dropped, with the reason.
import type { FindingDraft } from '../../contract/api/scans/findings.ts'
import { readCandidate } from './candidate.ts'
import { DropList, draftOf, sampleOf } from './finding-drafts.ts'
import { checkEvidence, type SourceText, type VerifiedEvidence } from './finding-evidence.ts'
import { FindingMatcher } from './finding-matching.ts'
import type { IngestedReview, SliceReview } from './review-ingest.ts'
import { type ImportedItem, type NamedRegion, pathOfItem, type ToolReport } from './sarif-import.ts'
import { type FoundLocation, TreeLocations } from './tree-locations.ts'

/** Some results of a scanner, and the files that they name. */
export type ResultBatch = { items: ImportedItem[]; paths: string[] }

const maxBatchBytes = 16 * 1024 * 1024

/**
 * Results in parts whose files fit into memory together; those of one file stay together. `sizeOf`: bytes; undefined of what
 * is no file of the tree.
 */
export function batchResults(
  items: readonly ImportedItem[],
  sizeOf: (path: string) => number | undefined,
): ResultBatch[] {
  const batches: ResultBatch[] = []
  let left = 0
  for (const [path, own] of Map.groupBy(items, pathOfItem)) {
    const bytes = sizeOf(path) ?? 0
    if (batches.length === 0 || bytes > left) {
      batches.push({ items: [], paths: [] })
      left = Math.max(0, maxBatchBytes - bytes)
    } else left -= bytes
    batches.at(-1)?.items.push(...own)
    batches.at(-1)?.paths.push(path)
  }
  return batches
}

/** The results with paths of the tree: of each the locations that are files, else the reason why none is. */
export function locateReport(
  report: ToolReport,
  tree: { paths: Iterable<string>; folder?: string | undefined; root?: string | undefined },
): ToolReport {
  const names = new Set([
    ...report.files,
    ...report.items.flatMap(({ locations }) => locations.map(({ path }) => path)),
  ])
  const located = new TreeLocations({ ...tree, names, knownRoots: report.roots })
  const find = memoizeByName((name) => located.find(name))
  const move = (region: NamedRegion) => {
    const found = find(region.path)
    return 'path' in found ? [{ ...region, path: found.path }] : []
  }
  const items = report.items.map((one) => {
    const [first] = one.locations
    const locations = one.locations.flatMap(move)
    const found = first === undefined ? { reason: 'the result names no file' } : find(first.path)
    const fault = locations.length === 0 && 'reason' in found ? { fault: found.reason } : {}
    return { ...one, locations, related: one.related.flatMap(move), ...fault }
  })
  const files = report.files.flatMap((name) => move({ path: name })).map(({ path }) => path)
  return { ...report, items, files: [...new Set(files)] }
}

function memoizeByName(find: (name: string) => FoundLocation): (name: string) => FoundLocation {
  const known = new Map<string, FoundLocation>()
  return (name) => {
    const found = known.get(name) ?? find(name)
    known.set(name, found)
    return found
  }
}

export type BatchReview = Pick<SliceReview, 'run' | 'known' | 'readSource'> & {
  batch: ResultBatch
  /** Scanner that the batch is of. */
  tool: string
  /** Tells the batch from others of the same import. */
  part: string
}

/** Where a region begins, in lines; undefined: it is the whole file. What tools count beyond the last line end is the last line. */
function findStart({ startLine, charOffset, byteOffset }: NamedRegion, source: SourceText): number | undefined {
  const unit = charOffset === undefined ? 'byte' : 'char'
  const offset = charOffset ?? byteOffset
  const start = startLine ?? (offset === undefined ? undefined : source.lineAt(offset, unit))
  return start === source.lines.length + 1 ? source.lines.length : start
}

/** Of a whole file nothing is quoted: the finding stays the same whatever is in it. */
function checkRegion(region: NamedRegion, source: SourceText | undefined): VerifiedEvidence | { reason: string } {
  const { path, quote, endLine = 1 } = region
  if (source === undefined) return { reason: `${path} cannot be read: it is a link, a submodule, or too large` }
  const start = findStart(region, source)
  const count = source.lines.length
  if (start === undefined && quote === undefined) return { path, startLine: 1, endLine: 1, quote: '' }
  if (start !== undefined && start > count)
    return { reason: `line ${start} is past the end of ${path}, which has ${count}` }
  const span = {
    startLine: start ?? 1,
    endLine: start === undefined ? count : Math.min(Math.max(start, endLine), count),
  }
  const shown = new Map([[path, [{ startLine: 1, endLine: count }]]])
  const checked = checkEvidence({ path, ...span, ...(quote !== undefined && { quote }) }, shown, source)
  if ('reason' in checked) return { reason: `what the scanner quotes of ${path} does not stand there` }
  return checked.quote.includes('\0') ? { ...checked, quote: '' } : checked
}

class BatchIngest {
  readonly #review: BatchReview
  readonly #sources = new Map<string, Promise<SourceText | undefined>>()
  readonly #drops: DropList
  readonly #matcher: FindingMatcher

  constructor(review: BatchReview) {
    this.#review = review
    this.#drops = new DropList({ run: review.run, sliceId: review.part })
    const linesOf = async (path: string) => (await this.#readSource(path))?.lines
    this.#matcher = new FindingMatcher({ known: review.known, run: review.run.id, linesOf })
  }

  #readSource(path: string): Promise<SourceText | undefined> {
    const source = this.#sources.get(path) ?? this.#review.readSource(path)
    this.#sources.set(path, source)
    return source
  }

  /** The first location that is there, else what is wrong with the first one. */
  async #findEvidence({ locations, fault }: ImportedItem): Promise<VerifiedEvidence | { reason: string }> {
    let reason: string | undefined
    for (const region of locations) {
      const checked = checkRegion(region, await this.#readSource(region.path))
      if (!('reason' in checked)) return checked
      reason ??= checked.reason
    }
    return { reason: reason ?? fault ?? 'the result names no file' }
  }

  /** Further evidence that is not true says nothing against the finding: what is true, and in a file of the batch, is added. */
  async #findRelated({ related }: ImportedItem): Promise<VerifiedEvidence[]> {
    const paths = new Set(this.#review.batch.paths)
    const checked: VerifiedEvidence[] = []
    for (const region of related) {
      const evidence = paths.has(region.path) ? checkRegion(region, await this.#readSource(region.path)) : undefined
      if (evidence !== undefined && !('reason' in evidence)) checked.push(evidence)
    }
    return checked
  }

  async #take(one: ImportedItem, at: number): Promise<FindingDraft | undefined> {
    const evidence = await this.#findEvidence(one)
    const sample = { ...sampleOf(one.item), filePath: pathOfItem(one) }
    if ('reason' in evidence) return void this.#drops.add('validation', at, evidence.reason, sample)
    const candidate = readCandidate({ ...one.item, evidence: [evidence] })
    if ('reason' in candidate) return void this.#drops.add('validation', at, candidate.reason, sample)
    const { tool } = this.#review
    const rule = { tool, id: one.ruleID, prints: one.prints, text: candidate.summary }
    const fingerprint = await this.#matcher.identify({ ...evidence, category: candidate.category, rule })
    if (fingerprint === undefined) {
      const reason = `the same as another result of ${one.ruleID} at ${evidence.path}:${evidence.startLine}`
      return void this.#drops.add('duplicate', at, reason, sample)
    }
    const related = await this.#findRelated(one)
    return {
      ...draftOf({ ...candidate, evidence: [evidence, ...related] }, fingerprint),
      ruleID: one.ruleID.slice(0, 256),
    }
  }

  async run(): Promise<IngestedReview> {
    const accepted: FindingDraft[] = []
    for (const [at, one] of this.#review.batch.items.entries()) {
      const draft = await this.#take(one, at)
      if (draft !== undefined) accepted.push(draft)
    }
    return { accepted, dropped: this.#drops.list }
  }
}

/** What is true is kept: a scanner is asked for nothing else, and what it reports is what people chose it for. */
export async function ingestBatch(review: BatchReview): Promise<IngestedReview> {
  return new BatchIngest(review).run()
}
