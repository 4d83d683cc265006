import { describe, expect, it } from 'vitest'
import { absolutePaths, innerPaths, outerPaths } from '../../../test/fixtures/inner-paths.ts'
import { ingestSarif, readExport } from '../../../test/fixtures/scans/sarif.ts'
import type { Finding } from '../../contract/api/scans/findings.ts'
import { isInnerPath } from '../../lib/inner-path.ts'
import { makeSourceText } from './finding-evidence.ts'
import { readSarif } from './sarif-import.ts'
import { locateReport } from './sarif-ingest.ts'
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
    expect(read).toMatchObject({
      tools: [{ name: 'svc', isComplete: true }],
      skipped: { suppressed: 1 },
      commit: source.commit,
    })
    expect('tools' in read && read.tools[0]?.items[0]).toMatchObject({
      item: { category: 'sql-injection', severity: 'critical' },
      locations: [{ path: 'src/a b.py', startLine: 4, endLine: 5, quote: 'db.run("select " + q)' }],
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
    return read.tools.flatMap(({ items }) => items)
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
      item: {
        title: 'Joined into SQL.',
        category: 'CWE-89: SQL Injection',
        severity: 'high',
        confidence: 'low',
        summary: 'Joined into SQL.',
        remediation: 'Use parameters.',
        triage: 'Semgrep OSS python.lang.sqli',
      },
      ruleID: 'python.lang.sqli',
      locations: [{ path: 'src/a.py', startLine: 3 }],
      related: [],
    })
    expect(second?.item).toMatchObject({
      severity: 'critical',
      confidence: 'high',
      summary: 'Argument q of show reaches {9}',
    })
  })

  it.each([
    ['src/a%20b.py', {}, 'src/a b.py'],
    ['./src/../src/a.py', {}, './src/../src/a.py'],
    ['src\\a.py', {}, 'src/a.py'],
    ['file:///etc/passwd', {}, '/etc/passwd'],
    ['file://localhost/etc/passwd', {}, '/etc/passwd'],
    ['file:///C:/work/a.cs', {}, 'C:/work/a.cs'],
    ['file:///c%3A/work/a.cs', {}, 'c:/work/a.cs'],
    ['C:\\work\\a.cs', {}, 'C:/work/a.cs'],
    ['a.py', { uriBaseId: 'ROOT' }, '/work/repo/a.py'],
    ['a.py', { uriBaseId: 'WEB' }, '/work/repo/packages/web/a.py'],
    ['a.py', { uriBaseId: 'LOOP' }, `${'loop/'.repeat(8)}a.py`],
    ['a.py', { uriBaseId: 'UNKNOWN' }, 'a.py'],
    ['file:///elsewhere/a.py', { uriBaseId: 'ROOT' }, '/elsewhere/a.py'],
    ['%ff', {}, '%ff'],
  ])('spells %s %j as %s', (uri, more, path) => {
    const text = log([{ ruleId: 'x', message: { text: 'm' }, locations: [location(uri, {}, more)] }], {
      originalUriBaseIds: {
        ROOT: { uri: 'file:///work/repo/' },
        WEB: { uri: 'packages/web/', uriBaseId: 'ROOT' },
        LOOP: { uri: 'loop', uriBaseId: 'LOOP' },
      },
    })
    expect(itemsOf(text)[0]?.locations).toEqual([{ path }])
  })

  it('names files from where it ran, where it says that', () => {
    const text = log([{ ruleId: 'x', message: { text: 'm' }, locations: [location('a.py', {})] }], {
      invocations: [{ executionSuccessful: true, workingDirectory: { uri: 'file:///ci/shop/web' } }],
    })
    expect(itemsOf(text)[0]?.locations).toEqual([{ path: '/ci/shop/web/a.py' }])
  })

  it.each([
    ['CA1000/1', { id: 'CA1000' }, 'CA1000'],
    ['S1', { id: 'S1', name: 'Do not use eval. It runs code.' }, 'S1'],
    ['js/eval', { id: 'js/eval', name: 'js/eval' }, 'eval'],
    ['CVE-2021-44228-log4j-core', { id: 'CVE-2021-44228-log4j-core', name: 'JavaMatcher' }, 'vulnerable-dependency'],
    ['unknown', undefined, 'unknown'],
  ])('has for %s of %j the category %s', (ruleId, rule, category) => {
    const tool = { driver: { name: 'T', ...(rule && { rules: [rule] }) } }
    const [one] = itemsOf(log([{ ruleId, ruleIndex: 0, locations: [location('a.py')] }], { tool }))
    expect(one?.item).toMatchObject({ category })
  })

  it.each([
    [{ markdown: '**no**' }, '**no**'],
    [{ id: 'g' }, 'of the tool'],
    [{ id: 'none' }, 'Short.'],
    [{}, 'Short.'],
  ])('says by the message %j: %s', (message, summary) => {
    const tool = {
      driver: {
        name: 'T',
        rules: [{ id: 'x', shortDescription: { text: 'Short.' } }],
        globalMessageStrings: { g: { text: 'of the tool' } },
      },
    }
    expect(itemsOf(log([{ ruleId: 'x', message }], { tool }))[0]?.item).toMatchObject({ summary })
  })

  it('has no candidates that it says are none itself', () => {
    const base = { ruleId: 'x', message: { text: 'm' }, locations: [location('a.py')] }
    const results = [
      { ...base, kind: 'pass' },
      { ...base, baselineState: 'absent' },
      { ...base, suppressions: [{ kind: 'inSource' }] },
      { ...base, suppressions: [{ kind: 'external', status: 'rejected' }] },
      { ...base, kind: 'review' },
      base,
    ]
    const skipped = { passed: 1, absent: 1, suppressed: 1 }
    expect(readSarif(log(results))).toMatchObject({ skipped, tools: [{ items: [{}, {}, {}] }] })
  })

  it('is of the version that its schema tells where it tells none itself', () => {
    for (const version of [undefined, '']) {
      const text = JSON.stringify({ $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version, runs: [] })
      expect(readSarif(text)).toEqual({ tools: [], skipped: {} })
    }
    expect(readSarif('{"version": "", "runs": []}')).toEqual({ fault: expect.stringContaining('and is missing') })
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

  it.each([...innerPaths, ...outerPaths, ...absolutePaths])('names no file outside the tree by %j', (path) => {
    const read = readSarif(log([{ message: { text: 'x' }, locations: [location(encodeURIComponent(path))] }]))
    const [report] = 'fault' in read ? [] : read.tools
    const paths = ['src/a.py', ...(isInnerPath(path) ? [path] : [])]
    const located = report && locateReport(report, { paths })
    expect(paths).toEqual(expect.arrayContaining(located?.files ?? []))
    if (isInnerPath(path)) expect(located?.files).toEqual([path])
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
      paths: ['src/a.py'],
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
      ['B', 0, 'line 40 is past the end of src/a.py, which has 4'],
      ['C', 0, 'there is no file "../etc/passwd" in the tree'],
      ['D', 0, 'there is no file "gone.py" in the tree'],
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

  it('are different when their rules are, or what they say; what is the same is counted, with what it is the same as', async () => {
    const [one] = result('A', 'src/a.py', 4).results
    const found = await ingest([
      {
        tool: { driver: { name: 'A' } },
        results: [one, { ...one, ruleId: 'other' }, one, { ...one, message: { text: 'Else.' } }],
      },
    ])
    const { accepted = [], dropped = [] } = 'byTool' in found ? (found.byTool.get('A') ?? {}) : {}
    expect(accepted.map(({ ruleID, summary }) => `${ruleID}: ${summary}`)).toEqual([
      'sql-injection: Joined into SQL.',
      'other: Joined into SQL.',
      'sql-injection: Else.',
    ])
    expect(new Set(accepted.map(({ fingerprint }) => fingerprint)).size).toBe(3)
    expect(dropped).toMatchObject([
      { layer: 'duplicate', reason: 'the same as another result of sql-injection at src/a.py:4' },
    ])
  })

  it('keep what their scanner knows them by when their code changes', async () => {
    const [one] = result('A', 'src/a.py', 4).results
    const known = async (line: number) => {
      const results = [
        { ...one, locations: result('A', 'src/a.py', line).results[0]?.locations, partialFingerprints: { hash: 'ab' } },
      ]
      const found = await ingest([{ tool: { driver: { name: 'A' } }, results }])
      return 'byTool' in found && found.byTool.get('A')?.accepted[0]?.fingerprint
    }
    expect(await known(4)).toBe(await known(1))
  })

  it('of thousands of files are each a finding of their own', async () => {
    const names = Array.from({ length: 2500 }, (_, at) => `src/${at}.py`)
    const results = names.map((uri) => ({
      ruleId: 'header',
      message: { text: 'No header.' },
      locations: [{ physicalLocation: { artifactLocation: { uri } } }],
    }))
    const found = await ingestSarif({
      text: JSON.stringify({ version: '2.1.0', runs: [{ tool: { driver: { name: 'A' } }, results }] }),
      paths: names,
      run: { id: 'r', taskName: 'import' },
      known: [],
      readSource: async () => makeSourceText(Buffer.from(content)),
    })
    const accepted = 'byTool' in found ? (found.byTool.get('A')?.accepted ?? []) : []
    expect(new Set(accepted.map(({ fingerprint }) => fingerprint)).size).toBe(2500)
  })

  it('are a fault when the file is none', async () => {
    expect(
      await ingestSarif({
        text: 'x',
        paths: [],
        run: { id: 'r', taskName: 't' },
        known: [],
        readSource: async () => undefined,
      }),
    ).toEqual({
      fault: expect.stringContaining('give a SARIF file'),
    })
  })
})
