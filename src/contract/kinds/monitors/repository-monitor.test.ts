import { describe, expect, it } from 'vitest'
import { monitorProblems, RepositoryMonitorSpec } from './repository-monitor.ts'

const repoURL = 'https://github.com/owner/repo'
const agents = { reviewer: { name: 'reviewer' } }
const paths = (spec: object) =>
  monitorProblems(RepositoryMonitorSpec.parse({ repoURL, agents, ...spec })).map((problem) => problem.path)

describe('repository monitor spec', () => {
  it('has the defaults of targets, review and validation', () => {
    const spec = RepositoryMonitorSpec.parse({
      repoURL,
      agents,
      targets: { pullRequests: {} },
      review: { publish: { inline: {} } },
      validation: {},
    })
    expect(spec.targets).toEqual({ pullRequests: { enabled: true, includeDrafts: false, maxPerRun: 20 } })
    expect(spec.review).toMatchObject({ event: 'COMMENT', requireGreenCI: false, exactEventEnabled: false })
    expect(spec.review?.publish).toMatchObject({ enabled: false, mode: 'summary_only', postNeedsChanges: true })
    expect(spec.review?.publish?.inline).toEqual({
      enabled: false,
      minPriority: 'P2',
      maxComments: 10,
      onlyChangedLines: true,
    })
    expect(spec.validation).toEqual({ mode: 'changed', timeout: '15m' })
  })

  it.each([
    [[], {}],
    [['agents.reviewer.name'], { agents: {} }],
    [['targets.issues.enabled'], { targets: { issues: { enabled: true } } }],
    [['targets.commits.enabled'], { targets: { commits: { enabled: true } } }],
    [['targets.pullRequests.enabled'], { targets: { pullRequests: { enabled: false } } }],
    [['review.requireGreenCI'], { review: { requireGreenCI: true } }],
  ])('finds %j in %j', (expected, spec) => {
    expect(paths(spec)).toEqual(expected)
  })

  it.each([
    [{ provider: 'other' }],
    [{ targets: { pullRequests: { maxPerRun: 101 } } }],
    [{ review: { event: 'comment' } }],
    [{ review: { staleReviewTTL: '0s' } }],
    [{ review: { publish: { event: 'APPROVE' } } }],
    [{ validation: { mode: 'all' } }],
    [{ automerge: { allowedMergeMethods: ['fast-forward'] } }],
  ])('refuses %j', (spec) => {
    expect(RepositoryMonitorSpec.safeParse({ repoURL, agents, ...spec }).success).toBe(false)
  })
})
