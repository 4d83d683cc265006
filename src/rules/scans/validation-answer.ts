// What an agent says about a finding that it validated, and which findings a run has validated by itself.
import { z } from 'zod'
import type { Finding, ValidationStatus } from '../../contract/api/scans/findings.ts'
import { confidences, type RepositoryScanSpec, severities } from '../../contract/kinds/scans/repository-scan.ts'
import { tryParseJson } from '../../contract/schema/json.ts'
import { redactJson, redactText } from '../../observability/redaction.ts'
import { rankOf } from './finding-state.ts'
import { findJson } from './json-answer.ts'

const longestJson = 65_536
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

export type Validation = { status: Exclude<ValidationStatus, 'unvalidated' | 'pending'>; json: string }

/** Nothing is known: the finding stays what it was. */
export function skipValidation(why: string): Validation {
  return { status: 'skipped', json: JSON.stringify({ status: 'skipped', summary: redactText(why.slice(0, 4096)) }) }
}

export function readValidation(answer: string, findingId: string): Validation {
  const parsed = ValidationAnswer.safeParse(tryParseJson(findJson(answer)))
  if (!parsed.success) return skipValidation('the answer of the validator is not in the form that was asked for')
  if (parsed.data.finding_id !== findingId)
    return skipValidation('the answer of the validator is about another finding')
  const json = JSON.stringify(redactJson(parsed.data, redactText))
  return json.length <= longestJson ? { status: parsed.data.status, json } : skipValidation('the answer is too long')
}

type Bounds = Pick<
  RepositoryScanSpec,
  'validationMode' | 'validationMinSeverity' | 'validationMinConfidence' | 'validationMaxFindingsPerRun'
>

/** Which of the findings of a run are validated without being asked for, the most pressing first. */
export function chooseForValidation(findings: readonly Finding[], bounds: Bounds): Finding[] {
  const { validationMode: mode, validationMaxFindingsPerRun: most } = bounds
  if (mode === 'off') return []
  const least = mode === 'full' ? 'low' : 'high'
  const { validationMinSeverity = least, validationMinConfidence = least } = bounds
  const isSevere = ({ severity }: Finding) => severities.indexOf(severity) <= severities.indexOf(validationMinSeverity)
  const isSure = ({ confidence }: Finding) =>
    confidences.indexOf(confidence) <= confidences.indexOf(validationMinConfidence)
  const isWanted = (one: Finding) => (mode === 'full' ? isSevere(one) && isSure(one) : isSevere(one) || isSure(one))
  const wanted = findings
    .filter((one) => one.state === 'open' && one.validationStatus === 'unvalidated' && isWanted(one))
    .map((finding) => ({ finding, rank: rankOf(finding) ?? '' }))
    .sort((a, b) => (a.rank < b.rank ? 1 : -1))
    .map(({ finding }) => finding)
  return mode === 'full' ? wanted : wanted.slice(0, most)
}
