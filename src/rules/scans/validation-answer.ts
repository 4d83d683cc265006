// What agents answer about slices and findings: untrusted text, from which JSON is read.
import { z } from 'zod'
import type { Finding, ValidationStatus } from '../../contract/api/scans/findings.ts'
import { confidences, type RepositoryScanSpec, severities } from '../../contract/kinds/scans/repository-scan.ts'
import { parseForeignJson } from '../../contract/schema/foreign-json.ts'
import { isJsonObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import { redactJson, redactText } from '../../observability/redaction.ts'
import { rankOf } from './finding-state.ts'

/** Bytes; a longer answer is refused unread. */
export const maxReviewAnswerLength = 1_048_576

type ReviewAnswer = { findings: unknown[] } | { fault: string }

const again = 'run the review again'

/** The object in a text around it (a fence of Markdown, a sentence before it); the text itself without one. */
function findObject(text: string): string {
  const from = text.indexOf('{')
  const to = text.lastIndexOf('}')
  return from < 0 || to < from ? text.trim() : text.slice(from, to + 1)
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value = parseForeignJson(findObject(text))
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function explainText(text: string): string {
  if (text.trim() === '') return `the answer is empty: ${again}`
  const isCut = text.includes('{') && !text.trimEnd().endsWith('}') && !text.trimEnd().endsWith('```')
  return isCut
    ? `the answer is cut off and no JSON: ${again} with more output tokens`
    : `the answer is not JSON: ${again}`
}

function checkEnvelope({ schemaVersion, scan, findings }: JsonObject, sliceId: string): string | undefined {
  if (schemaVersion !== 2) return `schemaVersion of the answer must be 2: ${again}`
  const named = isJsonObject(scan) ? scan.sliceId : undefined
  if (named !== sliceId) return `the answer is about another slice than the one that was reviewed: ${again}`
  return Array.isArray(findings) ? undefined : `findings of the answer must be a list: ${again}`
}

/** `sliceId`: of the slice that was to be reviewed. What the answer says about the repository is passed over. */
export function readReviewAnswer(text: string, sliceId: string): ReviewAnswer {
  if (Buffer.byteLength(text) > maxReviewAnswerLength)
    return { fault: `the answer has more than ${maxReviewAnswerLength} bytes: ${again}` }
  const answer = parseObject(text)
  if (answer === undefined) return { fault: explainText(text) }
  const fault = checkEnvelope(answer, sliceId)
  return fault === undefined ? { findings: answer.findings as unknown[] } : { fault }
}

/** The text of the object; the whole answer where none is found. */
export function findJson(answer: string): string {
  const text = answer.trim()
  const fenced = /^```(?:json)?[^\S\n]*\n([\s\S]*?)\n?```$/.exec(text)?.[1]
  return (fenced ?? text).trim()
}

const maxJsonLength = 65_536
const text = z.string().max(16_384).optional()
const texts = z.array(z.string().max(4096)).max(100).optional()

/** The answer of a validator; fields that are not known are dropped. */
const ValidationAnswer = z.object({
  finding_id: z.string(),
  status: z.enum(['validated', 'failed', 'skipped']),
  summary: z.string().min(1).max(16_384),
  validation_steps: texts,
  reproduction: text,
  attack_path_analysis: text,
  likelihood: text,
  impact: text,
  assumptions: texts,
  controls: texts,
  blindspots: texts,
})

export type FindingValidation = { status: Exclude<ValidationStatus, 'unvalidated' | 'pending'>; json: string }

/** Nothing is known: the finding stays what it was. */
export function skipValidation(why: string): FindingValidation {
  return { status: 'skipped', json: JSON.stringify({ status: 'skipped', summary: redactText(why.slice(0, 4096)) }) }
}

export function readValidation(answer: string, findingId: string): FindingValidation {
  const parsed = ValidationAnswer.safeParse(tryParseJson(findJson(answer)))
  if (!parsed.success) return skipValidation('the answer of the validator is not in the form that was asked for')
  if (parsed.data.finding_id !== findingId)
    return skipValidation('the answer of the validator is about another finding')
  const json = JSON.stringify(redactJson(parsed.data, redactText))
  return json.length <= maxJsonLength ? { status: parsed.data.status, json } : skipValidation('the answer is too long')
}

type Bounds = Pick<
  RepositoryScanSpec,
  'validationMode' | 'validationMinSeverity' | 'validationMinConfidence' | 'validationMaxFindingsPerRun'
>

/** Which of the findings of a run are validated without being asked for, the most pressing first. */
export function chooseForValidation(findings: readonly Finding[], bounds: Bounds): Finding[] {
  const { validationMode: mode, validationMaxFindingsPerRun: max } = bounds
  if (mode === 'off') return []
  const min = mode === 'full' ? 'low' : 'high'
  const { validationMinSeverity = min, validationMinConfidence = min } = bounds
  const isSevere = ({ severity }: Finding) => severities.indexOf(severity) <= severities.indexOf(validationMinSeverity)
  const isSure = ({ confidence }: Finding) =>
    confidences.indexOf(confidence) <= confidences.indexOf(validationMinConfidence)
  const isWanted = (one: Finding) => (mode === 'full' ? isSevere(one) && isSure(one) : isSevere(one) || isSure(one))
  const wanted = findings
    .filter((one) => one.state === 'open' && one.validationStatus === 'unvalidated' && isWanted(one))
    .map((finding) => ({ finding, rank: rankOf(finding) ?? '' }))
    .sort((a, b) => (a.rank < b.rank ? 1 : -1))
    .map(({ finding }) => finding)
  return mode === 'full' ? wanted : wanted.slice(0, max)
}

/** What came of its validation; `failed`, which sounds like a fault of the validation, means that it is no weakness. */
export function describeValidation({ validationStatus, validationJSON }: Finding): string {
  const status = validationStatus === 'failed' ? 'no weakness (failed)' : validationStatus
  const { summary } = (tryParseJson(validationJSON ?? '') ?? {}) as { summary?: unknown }
  return typeof summary === 'string' && summary.trim() !== '' ? `${status}: ${summary.trim()}` : status
}
