import { describe, expect, it } from 'vitest'
import { RepositoryScanSpec } from './repository-scan.ts'

const repoURL = 'https://github.com/owner/repo'
const analysisAgentRef = { name: 'auditor' }

describe('repository scan spec', () => {
  it('has the effective defaults', () => {
    expect(RepositoryScanSpec.parse({ repoURL, analysisAgentRef, falsePositivePolicyRef: { name: 'p' } })).toEqual({
      provider: 'codehost',
      repoURL,
      analysisAgentRef,
      falsePositivePolicyRef: { name: 'p', key: 'policy' },
      historyDays: 30,
      validationMode: 'light',
      validationMaxFindingsPerRun: 2,
      maxFindingsPerRun: 10,
      maxParallelReviews: 4,
      suspend: false,
      uploadToCodeScanning: false,
    })
  })

  it.each([
    [{ analysisAgentRef }],
    [{ repoURL }],
    [{ repoURL, analysisAgentRef, provider: 'other' }],
    [{ repoURL, analysisAgentRef, validationMode: 'deep' }],
    [{ repoURL, analysisAgentRef, validationMinSeverity: 'severe' }],
    [{ repoURL, analysisAgentRef, validationMinConfidence: 'critical' }],
    [{ repoURL, analysisAgentRef, validationMaxFindingsPerRun: -1 }],
    [{ repoURL, analysisAgentRef, schedule: 'nightly' }],
    [{ repoURL, analysisAgentRef, subPath: '../x' }],
    [{ repoURL: 'https://user:pw@github.com/o/r', analysisAgentRef }],
  ])('refuses %j', (spec) => {
    expect(RepositoryScanSpec.safeParse(spec).success).toBe(false)
  })
})
