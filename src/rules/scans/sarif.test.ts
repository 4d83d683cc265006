import { describe, expect, it } from 'vitest'
import { absolutePaths, innerPaths, outerPaths } from '../../../test/fixtures/inner-paths.ts'
import { ingestSarif, readExport } from '../../../test/fixtures/scans/sarif.ts'
import type { Finding } from '../../contract/api/scans/findings.ts'
import { isInnerPath } from '../../lib/inner-path.ts'
import { makeSourceText } from './finding-evidence.ts'
import { readSarif } from './sarif-import.ts'
import { maxResults } from './sarif-log.ts'

const finding: Finding = {
  id: 'fnd_1',
  namespace: 'default',
  repositoryScan: 'shop',
  scanRunID: 'scan_1',
  commitSHA: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  fingerprint: `v3:${'ab'.repeat(32)}`,
  title: 'SQL injection in show',
  category: 'CWE-89',
  summary: 'The query is joined into the statement.',
  severity: 'high',
  confidence: 'high',
  remediation: 'Use parameters.',
  filePath: 'src/a b.py',
  line: 4,
  evidence: [
    { kind: 'file', path: 'src/a b.py', startLine: 4, endLine: 5, symbol: 'show', quote: 'db.run("select " + q)' },
    { kind: 'file', path: 'src/ü.py', startLine: 1, endLine: 1 },
    { kind: 'note', label: 'seen in a log' },
  ],
  validationStatus: 'validated',
  state: 'open',
  createdAt: '2030-01-01T00:00:00Z',
  updatedAt: '2030-01-01T00:00:00Z',
}
const source = {
  scan: 'shop',
  repoURL: 'https://github.com/owner/repo',
  branch: 'main',
  commit: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
}

describe('findings as SARIF', async () => {
  const dismissed: Finding = {
    ...finding,
    id: 'fnd_2',
    severity: 'critical',
    state: 'dismissed',
    dismissal: { reason: 'q is a constant', by: 'ada', at: '2030-01-01T00:00:00Z' },
  }
  const log = await readExport([finding, dismissed, { ...finding, id: 'fnd_3', state: 'fixed' }], source)
  const [run] = log.runs

  it('name place, rule, fingerprint and further places; those that are fixed are left out [FIND-024]', () => {
    expect(log.version).toBe('2.1.0')
    expect(run.results).toHaveLength(2)
    expect(run.results[0]).toMatchObject({
      ruleId: 'sql-injection',
      level: 'error',
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: 'src/a%20b.py', uriBaseId: '%SRCROOT%' },
            region: { startLine: 4, endLine: 5, snippet: { text: 'db.run("select " + q)' } },
          },
          logicalLocations: [{ name: 'show', kind: 'function' }],
        },
      ],
      relatedLocations: [{ id: 1, physicalLocation: { artifactLocation: { uri: 'src/%C3%BC.py' } } }],
      partialFingerprints: { 'svcFinding/v3': 'ab'.repeat(32), primaryLocationLineHash: 'abababababababab:1' },
    })
    expect(run.tool.driver.rules).toMatchObject([{ id: 'sql-injection', properties: { 'security-severity': '9.5' } }])
    expect(run.versionControlProvenance).toEqual([
      { repositoryUri: 'https://github.com/owner/repo', revisionId: source.commit, branch: 'main' },
    ])
  })

  it('are suppressed where they are dismissed, with the reason', () => {
    expect(run.results.map(({ suppressions }: { suppressions?: unknown }) => suppressions)).toEqual([
      undefined,
      [{ kind: 'external', status: 'accepted', justification: 'q is a constant' }],
    ])
  })

  it('are read again as what they were', () => {
    const read = readSarif(JSON.stringify(log))
    expect(read).toMatchObject({ tools: [{ name: 'svc', isComplete: true }], skipped: 1, commit: source.commit })
    expect('tools' in read && read.tools[0]?.items[0]?.item).toMatchObject({
      category: 'sql-injection',
      severity: 'critical',
      evidence: [{ path: 'src/a b.py', startLine: 4, endLine: 5, quote: 'db.run("select " + q)' }],
    })
  })
})

describe('a scanner’s SARIF', () => {
  const location = (uri: string, region: object = { startLine: 3 }, more: object = {}) => ({
    physicalLocation: { artifactLocation: { uri, ...more }, region },
  })
  const log = (results: object[], run: object = {}) =>
    JSON.stringify({
      version: '2.1.0',
      runs: [
        {
          tool: {
            driver: {
              name: 'Semgrep OSS',
              rules: [
                {
                  id: 'python.lang.sqli',
                  shortDescription: { text: 'Semgrep Finding: python.lang.sqli' },
                  help: { text: 'Use parameters.' },
                  defaultConfiguration: { level: 'error' },
                  properties: { tags: ['CWE-89: SQL Injection', 'LOW CONFIDENCE'] },
                },
                {
                  id: 'x',
                  messageStrings: { m: { text: 'Argument {0} of {1} reaches {9}' } },
                  properties: { precision: 'very-high', 'security-severity': '9.1' },
                },
              ],
            },
          },
          results,
          ...run,
        },
      ],
    })
  const itemsOf = (text: string) => {
    const read = readSarif(text)
    if ('fault' in read) throw new Error(read.fault)
    return read.tools.flatMap(({ items }) => items.map(({ item }) => item))
  }

  it('is read with its rules, levels and messages [FIND-025]', () => {
    const [first, second] = itemsOf(
      log([
        {
          ruleId: 'python.lang.sqli',
          message: { text: 'Joined into SQL.' },
          locations: [location('src/a.py', { startLine: 3, snippet: { text: 'requires login' } })],
        },
        { ruleIndex: 1, message: { id: 'm', arguments: ['q', 'show'] }, locations: [location('src/b.py')] },
      ]),
    )
    expect(first).toEqual({
      title: 'Joined into SQL.',
      category: 'CWE-89: SQL Injection',
      severity: 'high',
      confidence: 'low',
      summary: 'Joined into SQL.',
      remediation: 'Use parameters.',
      triage: 'Semgrep OSS python.lang.sqli',
      evidence: [{ path: 'src/a.py', startLine: 3, endLine: 3, quote: undefined }],
    })
    expect(second).toMatchObject({
      severity: 'critical',
      confidence: 'high',
      summary: 'Argument q of show reaches {9}',
    })
  })

  it.each([
    ['src/a%20b.py', {}, 'src/a b.py'],
    ['./src/../src/a.py', {}, 'src/a.py'],
    ['src\\a.py', {}, 'src/a.py'],
    ['file:///work/repo/src/a.py', { uriBaseId: 'ROOT' }, 'src/a.py'],
    ['file:///etc/passwd', {}, '/etc/passwd'],
    ['../../etc/passwd', {}, '../../etc/passwd'],
    ['%2e%2e/%2e%2e/etc/passwd', {}, '../../etc/passwd'],
    ['%ff', {}, '%ff'],
  ])('means by %s a path of the repository, or one that is refused later', (uri, more, path) => {
    const text = log([{ ruleId: 'x', message: { text: 'm' }, locations: [location(uri, {}, more)] }], {
      originalUriBaseIds: { ROOT: { uri: 'file:///work/repo/' } },
    })
    expect(itemsOf(text)[0]?.evidence).toMatchObject([{ path }])
  })

  it('has no candidates that it says are none itself', () => {
    const base = { ruleId: 'x', message: { text: 'm' }, locations: [location('a.py')] }
    const results = [
      { ...base, kind: 'pass' },
      { ...base, baselineState: 'absent' },
      { ...base, suppressions: [{ kind: 'inSource' }] },
      { ...base, suppressions: [{ kind: 'external', status: 'rejected' }] },
      base,
    ]
    expect(readSarif(log(results))).toMatchObject({ skipped: 3, tools: [{ items: [{}, {}] }] })
  })

  it.each([
    ['no JSON', 'ruleId,path', /not JSON/],
    ['an older version', '{"version": "2.0.0", "runs": []}', /must be "2\.1\.0", and is "2\.0\.0"/],
    ['no runs', '{"version": "2.1.0"}', /no runs/],
    [
      'endless results',
      JSON.stringify({ version: '2.1.0', runs: [{ results: Array(maxResults + 1).fill(0) }] }),
      /split it/,
    ],
  ])('is refused with what to do: %s', (_name, text, expected) => {
    expect(readSarif(text)).toEqual({ fault: expect.stringMatching(expected) })
  })

  it.each([...innerPaths, ...outerPaths, ...absolutePaths])('names no file outside the repository by %j', (path) => {
    const read = readSarif(log([{ message: { text: 'x' }, locations: [location(encodeURIComponent(path))] }]))
    const files = 'fault' in read ? [] : read.tools.flatMap((tool) => tool.files)
    expect(files.every(isInnerPath)).toBe(true)
    if (isInnerPath(path)) expect(files).toContain(path)
  })

  it('may have anything in place of anything', () => {
    const text = JSON.stringify({
      version: '2.1.0',
      runs: [null, 7, { tool: [], results: [null, { locations: {}, message: [], ruleIndex: -1 }] }],
    })
    expect(readSarif(text)).toMatchObject({ tools: [{ items: [{}, {}] }] })
  })
})

describe('findings of scanners', () => {
  const content = 'import db\n\ndef show(q):\n    return db.run("select " + q)\n'
  const result = (name: string, uri: string, startLine: number, text = 'Joined into SQL.') => ({
    tool: { driver: { name } },
    results: [
      {
        ruleId: 'sql-injection',
        message: { text },
        locations: [{ physicalLocation: { artifactLocation: { uri }, region: { startLine } } }],
      },
    ],
  })
  const ingest = (runs: object[], known: Parameters<typeof ingestSarif>[0]['known'] = []) =>
    ingestSarif({
      text: JSON.stringify({ version: '2.1.0', runs }),
      run: { id: 'r', taskName: 'import' },
      known,
      readSource: async (path) => (path === 'src/a.py' ? makeSourceText(Buffer.from(content)) : undefined),
    })

  it('are kept when they stand in the file, and dropped with the reason when they do not', async () => {
    const found = await ingest([
      result('A', 'src/a.py', 4),
      result('B', 'src/a.py', 40),
      result('C', '../etc/passwd', 1),
      result('D', 'gone.py', 1),
    ])
    if ('fault' in found) throw new Error(found.fault)
    expect(
      [...found.byTool].map(([tool, { accepted, dropped }]) => [tool, accepted.length, dropped[0]?.reason]),
    ).toEqual([
      ['A', 1, undefined],
      ['B', 0, 'evidence line range is outside included review context'],
      ['C', 0, 'evidence path "../etc/passwd" is not repo-relative and safe'],
      ['D', 0, 'evidence file was not included in review context'],
    ])
    expect(found.byTool.get('A')?.accepted[0]).toMatchObject({
      filePath: 'src/a.py',
      line: 4,
      evidence: [{ symbol: 'show', quote: '    return db.run("select " + q)' }],
    })
  })

  it('are one finding when two scanners, or a scanner and a reviewer, see the same', async () => {
    const found = await ingest([result('A', 'src/a.py', 4), result('B', 'src/a.py', 4, 'SQL from input.')])
    if ('fault' in found) throw new Error(found.fault)
    const prints = [...found.byTool.values()].flatMap(({ accepted }) => accepted.map(({ fingerprint }) => fingerprint))
    expect(prints).toHaveLength(2)
    expect(new Set(prints).size).toBe(1)
  })

  it('are a fault when the file is none', async () => {
    expect(
      await ingestSarif({ text: 'x', run: { id: 'r', taskName: 't' }, known: [], readSource: async () => undefined }),
    ).toEqual({
      fault: expect.stringContaining('give a SARIF file'),
    })
  })
})
