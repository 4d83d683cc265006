import { describe, expect, it } from 'vitest'
import type { Finding } from '../../contract/api/scans/findings.ts'
import { RepositoryScanSpec } from '../../contract/kinds/scans/repository-scan.ts'
import { chooseForValidation, readValidation } from './validation-answer.ts'

const specOf = (more: object) =>
  RepositoryScanSpec.parse({ repoURL: 'https://github.com/a/b', analysisAgentRef: { name: 'a' }, ...more })

function finding(id: string, severity: Finding['severity'], confidence: Finding['confidence']): Finding {
  const times = { createdAt: '2030-01-01T00:00:00.000Z', updatedAt: '2030-01-01T00:00:00.000Z' }
  const place = { namespace: 'default', repositoryScan: 'shop', scanRunID: 'r', fingerprint: id, evidence: [] }
  return {
    id,
    ...place,
    ...times,
    title: id,
    summary: id,
    severity,
    confidence,
    validationStatus: 'unvalidated',
    state: 'open',
  }
}

describe('what a run has validated by itself', () => {
  const all = [
    finding('low', 'low', 'low'),
    finding('sure', 'low', 'high'),
    finding('high', 'high', 'medium'),
    finding('worst', 'critical', 'high'),
    { ...finding('dismissed', 'critical', 'high'), state: 'dismissed' as const },
    { ...finding('done', 'critical', 'high'), validationStatus: 'validated' as const },
  ]
  const chosen = (more: object) => chooseForValidation(all, specOf(more)).map(({ id }) => id)

  it('is the most pressing, up to a number [SCAN-012]', () => {
    expect(chosen({})).toEqual(['worst', 'high'])
    expect(chosen({ validationMaxFindingsPerRun: 3 })).toEqual(['worst', 'high', 'sure'])
    expect(chosen({ validationMaxFindingsPerRun: 0 })).toEqual([])
    expect(chosen({ validationMode: 'off' })).toEqual([])
  })

  it('is bounded by severity and confidence [SCAN-013] [SCAN-014]', () => {
    const full = { validationMode: 'full', validationMaxFindingsPerRun: 1 }
    expect(chosen(full)).toEqual(['worst', 'high', 'sure', 'low'])
    expect(chosen({ ...full, validationMinSeverity: 'high' })).toEqual(['worst', 'high'])
    expect(chosen({ ...full, validationMinConfidence: 'high' })).toEqual(['worst', 'sure'])
    const light = { validationMinSeverity: 'critical', validationMinConfidence: 'high', validationMaxFindingsPerRun: 9 }
    expect(chosen(light)).toEqual(['worst', 'sure'])
  })
})

describe('the answer of a validator', () => {
  const answer = { finding_id: 'fnd_1', status: 'failed', summary: 'the input is a constant' }

  it('is taken with its steps, without secrets', () => {
    const secret = `ghp_${'a1B2'.repeat(9)}`
    const text = `\`\`\`json\n${JSON.stringify({ ...answer, validation_steps: [`used ${secret}`], extra: 1 })}\n\`\`\``
    const { status, json } = readValidation(text, 'fnd_1')
    expect(status).toBe('failed')
    expect(JSON.parse(json)).toEqual({ ...answer, validation_steps: [expect.not.stringContaining(secret)] })
  })

  it.each([
    ['the code is fine', 'not in the form'],
    [JSON.stringify({ ...answer, status: 'wontfix' }), 'not in the form'],
    [JSON.stringify({ ...answer, finding_id: 'fnd_2' }), 'another finding'],
  ])('decides nothing when it is wrong: %s', (text, why) => {
    const { status, json } = readValidation(text, 'fnd_1')
    expect(status).toBe('skipped')
    expect(json).toContain(why)
  })
})
