import { describe, expect, it } from 'vitest'
import { judgeReports, type Report } from '../../scripts/check-requirements.ts'

const path = '/checkout/test'

function report(tests: Record<string, [fullName: string, status: string][]>): Report {
  const testResults = Object.entries(tests).map(([name, rows]) => ({
    name: `${path}/${name}`,
    assertionResults: rows.map(([fullName, status]) => ({ fullName, status })),
  }))
  return { testResults }
}

const id = (number: number) => `AUTH-00${number}`

describe('the reports of test runs', () => {
  it('prove an id by a test that passed, and by no other test', () => {
    const run = report({
      'http/tokens.test.ts': [
        [`tokens refuse a stranger [${id(1)}]`, 'passed'],
        [`tokens end [${id(2)}]`, 'failed'],
        [`tokens rest [${id(3)}]`, 'skipped'],
      ],
    })
    expect(judgeReports([id(1), id(2), id(3), id(4)], new Set([id(4)]), [run]).unproved).toEqual([id(2), id(3)])
  })

  it('add up, so that one run may prove what another skipped', () => {
    const plain = report({ 'cluster/identity.test.ts': [[`asks the cluster [${id(1)}]`, 'skipped']] })
    const cluster = report({ 'cluster/identity.test.ts': [[`asks the cluster [${id(1)}]`, 'passed']] })
    expect(judgeReports([id(1)], new Set(), [plain]).unproved).toEqual([id(1)])
    expect(judgeReports([id(1)], new Set(), [plain, cluster]).unproved).toEqual([])
  })

  it('tell which ids rest on tests that need a cluster, PostgreSQL or a client', () => {
    const run = report({
      'cluster/identity.test.ts': [[`[${id(1)}] [${id(2)}]`, 'passed']],
      'http/tokens.test.ts': [[`[${id(2)}]`, 'passed']],
      'contracts/records.postgres.test.ts': [[`[${id(3)}]`, 'passed']],
      'scenarios/proxy-clients.test.ts': [[`[${id(3)}]`, 'passed']],
    })
    const { resting } = judgeReports([id(1), id(2), id(3)], new Set(), [run])
    expect([...resting]).toEqual([
      ['a Kubernetes cluster', [id(1)]],
      ['PostgreSQL or a client that others wrote', [id(3)]],
    ])
  })
})
