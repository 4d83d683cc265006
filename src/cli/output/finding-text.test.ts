import { expect, it } from 'vitest'
import type { Finding } from '../../contract/api/scans/findings.ts'
import { describeFinding, showLines } from './finding-text.ts'

const file = Array.from({ length: 100 }, (_one, index) => `line ${index + 1}`).join('\n')
const finding = {
  id: 'fnd_1',
  title: 'SQL injection',
  summary: 'The name goes into the statement.',
  severity: 'high',
  confidence: 'low',
  state: 'open',
  validationStatus: 'unvalidated',
  commitSHA: 'c0ffee',
  evidence: [{ kind: 'file', path: 'a.go', startLine: 9, endLine: 10, symbol: 'login', quote: 'line 9\nline 10' }],
} as unknown as Finding

it('shows the cited lines between those around them', () => {
  expect(showLines(file, { kind: 'file', path: 'a', startLine: 9, endLine: 10 })).toBe(
    ['   6 | line 6', '   7 | line 7', '   8 | line 8', '>  9 | line 9', '> 10 | line 10']
      .concat(['  11 | line 11', '  12 | line 12', '  13 | line 13'])
      .join('\n'),
  )
  expect(showLines('only', { kind: 'file', path: 'a', startLine: 1 })).toBe('> 1 | only')
  expect(showLines(file, { kind: 'file', path: 'a', startLine: 1, endLine: 100 }).split('\n')).toHaveLength(60)
  expect(showLines('short', { kind: 'file', path: 'a', startLine: 90, endLine: 95 })).toBe('')
})

it('shows the quotation where the file is not at hand', async () => {
  const whole = await describeFinding(finding, async (commit, path) =>
    commit === 'c0ffee' && path === 'a.go' ? file : '',
  )
  expect(whole).toMatch(/^SQL injection\n\nid: +fnd_1\nseverity: +high, confidence low\n/)
  expect(whole).toContain('a.go:9-10 (login)\n   6 | line 6')
  const quoted = await describeFinding(finding, async () => undefined)
  expect(quoted).toContain('a.go:9-10 (login)\n> line 9\n> line 10')
})

it('says who dismissed it and why, and where its pull request is', async () => {
  const dismissal = { reason: 'a constant', by: 'ada', at: 'x', until: '2999-01-01T00:00:00Z' }
  const dismissed = await describeFinding({ ...finding, state: 'dismissed', dismissal }, async () => undefined)
  expect(dismissed).toContain('dismissed by ada until 2999-01-01T00:00:00Z: a constant')
  const prURL = 'https://github.com/owner/repo/pull/12'
  expect(await describeFinding({ ...finding, state: 'pr_open', prURL }, async () => undefined)).toContain(
    `pr_open ${prURL}`,
  )
})
