// What becomes of a candidate, of a reviewer or a scanner: the draft of a finding, or a note on why it was dropped.
import { createHash } from 'node:crypto'
import type { FindingDraft } from '../../contract/api/scans/findings.ts'
import type { DropLayer } from '../../contract/api/scans/runs.ts'
import { redactText } from '../../observability/redaction.ts'
import type { FindingCandidate } from './candidate.ts'
import { redactCode, type VerifiedEvidence } from './finding-evidence.ts'

/** A candidate with evidence that is true. */
export type VerifiedFinding = Omit<FindingCandidate, 'evidence'> & { evidence: readonly VerifiedEvidence[] }

export function draftOf({ evidence, ...texts }: VerifiedFinding, fingerprint: string): FindingDraft {
  const [first] = evidence
  const clean = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, redactCode(text)]))
  return {
    ...(clean as unknown as typeof texts),
    fingerprint,
    ...(first && { filePath: first.path, line: first.startLine }),
    evidence: evidence.map(({ quote, ...one }) => ({
      kind: 'file',
      ...one,
      ...(quote !== '' && { quote: redactCode(quote) }),
    })),
  }
}

export type DroppedCandidate = { id: string; reason: string; layer: DropLayer; sampleJSON: string }

const maxSampleLength = 160

export type Sample = {
  title?: unknown
  category?: unknown
  severity?: unknown
  confidence?: unknown
  filePath?: unknown
  count?: number
}

export function sampleOf({ title, category, severity }: Sample): Sample {
  return { title, category, severity }
}

/** Without what looks like a secret: samples are for people who find out why something was dropped. */
function writeSample(sample: Sample): string {
  const cut = (value: unknown) => (typeof value === 'string' ? redactText(value.slice(0, maxSampleLength)) : value)
  const entries = Object.entries(sample).filter(([, value]) => ['string', 'number'].includes(typeof value))
  return JSON.stringify(Object.fromEntries(entries.map(([name, value]) => [name, cut(value)])))
}

export type DropSource = { run: { id: string; taskName: string }; sliceId: string }

export class DropList {
  readonly list: DroppedCandidate[] = []
  readonly #source: DropSource

  constructor(source: DropSource) {
    this.#source = source
  }

  /** `at`: which candidate it is. The same of the same run and task: the same id. */
  add(layer: DropLayer, at: number, reason: string, sample: Sample): void {
    const { run, sliceId } = this.#source
    const key = [run.id, run.taskName, sliceId, at, reason].join('\0')
    const id = `drop_fnd_${createHash('sha256').update(key).digest('hex').slice(0, 12)}`
    this.list.push({ id, layer, reason, sampleJSON: writeSample(sample) })
  }
}
