// One finding of an answer, before anything is known about whether it is true: its fields, each a plain text of bounded length.
import { type Confidence, confidences, type Severity, severities } from '../../contract/kinds/scans/repository-scan.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'

export type CandidateEvidence = {
  path: string
  startLine?: number
  endLine?: number
  symbol?: string
  quote?: string
}

const optionalTexts = [
  'triage',
  'rootCause',
  'reproduction',
  'suggestedAction',
  'whyTestsDoNotAlreadyCoverThis',
  'suggestedRegressionTest',
  'minimumFixScope',
] as const
const requiredTexts = ['title', 'category', 'severity', 'confidence', 'summary', 'remediation'] as const

export type FindingCandidate = {
  title: string
  category: string
  severity: Severity
  confidence: Confidence
  summary: string
  remediation: string
  evidence: CandidateEvidence[]
} & Partial<Record<(typeof optionalTexts)[number], string>>

/** UTF-16 units; what is longer is cut. */
const maxLengths = { title: 300, category: 120, other: 8192, quote: 4096, symbol: 256 }
const maxEvidence = 32

function readText(value: unknown, max: number): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters could change what a terminal shows
  const text = typeof value === 'string' ? value.replace(/[\x00-\x08\x0b-\x1f\x7f]/g, '').trim() : ''
  return text === '' ? undefined : text.slice(0, max)
}

function readLine(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) ? value : undefined
}

export function readCandidateEvidence(value: unknown): CandidateEvidence {
  const { path, startLine, endLine, symbol, quote } = isJsonObject(value) ? value : {}
  const known = {
    startLine: readLine(startLine),
    endLine: readLine(endLine),
    symbol: readText(symbol, maxLengths.symbol),
    // Not trimmed: it is compared with lines of a file.
    quote: typeof quote === 'string' && quote.trim() !== '' ? quote.slice(0, maxLengths.quote) : undefined,
  }
  const present = Object.entries(known).filter(([, one]) => one !== undefined)
  return { path: typeof path === 'string' ? path : '', ...Object.fromEntries(present) }
}

function findMissing(item: JsonObject): string | undefined {
  const missing = requiredTexts.find((field) => readText(item[field], 1) === undefined)
  if (missing !== undefined) return `${missing} is required`
  return Array.isArray(item.evidence) && item.evidence.length > 0 ? undefined : 'evidence is required'
}

const lower = (value: unknown) => readText(value, 40)?.toLowerCase() ?? ''

/** A reason when fields are missing or have values that there are not. */
export function readCandidate(item: unknown): FindingCandidate | { reason: string } {
  if (!isJsonObject(item)) return { reason: 'title is required' }
  const missing = findMissing(item)
  if (missing !== undefined) return { reason: missing }
  const severity = severities.find((one) => one === lower(item.severity))
  if (severity === undefined) return { reason: `unsupported severity "${lower(item.severity)}"` }
  const confidence = confidences.find((one) => one === lower(item.confidence))
  if (confidence === undefined) return { reason: `unsupported confidence "${lower(item.confidence)}"` }
  const others = optionalTexts.flatMap((field) => {
    const text = readText(item[field], maxLengths.other)
    return text === undefined ? [] : [[field, text]]
  })
  return {
    title: readText(item.title, maxLengths.title) ?? '',
    category: readText(item.category, maxLengths.category) ?? '',
    severity,
    confidence,
    summary: readText(item.summary, maxLengths.other) ?? '',
    remediation: readText(item.remediation, maxLengths.other) ?? '',
    ...Object.fromEntries(others),
    evidence: (item.evidence as unknown[]).slice(0, maxEvidence).map(readCandidateEvidence),
  }
}
