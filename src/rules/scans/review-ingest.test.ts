import { describe, expect, it } from 'vitest'
import { makeSourceText } from './finding-evidence.ts'
import { fingerprintOf, type MatchableFinding, weaknessFamilyOf } from './finding-matching.ts'
import { ingestReview, type SliceReview } from './review-ingest.ts'
import { maxReviewAnswerLength } from './validation-answer.ts'

const files: Record<string, string> = {
  'app/web.py': 'import db\n\ndef show(q):\n    return db.run("select " + q)\n\ndef other(q):\n    return q\n',
  'app/long.py': `${Array.from({ length: 50 }, (_, at) => `line_${at} = ${at}`).join('\n')}\n`,
}

const item = (more: object = {}, evidence: object = {}) => ({
  title: 'SQL injection in show',
  category: 'sql-injection',
  severity: 'high',
  confidence: 'high',
  summary: 'The query of the request is joined into the statement.',
  remediation: 'Use parameters.',
  evidence: [{ path: 'app/web.py', startLine: 4, endLine: 4, quote: 'db.run("select " + q)', ...evidence }],
  ...more,
})
const answer = (findings: unknown, more: object = {}) =>
  JSON.stringify({ schemaVersion: 2, scan: { sliceId: 's1' }, findings, ...more })

function ingest(text: string, more: Partial<SliceReview> = {}) {
  const shownOf = (path: string, endLine: number) => ({
    path,
    readable: true,
    includedLineRanges: [{ startLine: 1, endLine }],
  })
  const includedFiles = [
    shownOf('app/web.py', 7),
    shownOf('app/long.py', 20),
  ] as SliceReview['context']['includedFiles']
  return ingestReview({
    text,
    sliceId: 's1',
    context: { includedFiles },
    run: { id: 'r1', taskName: 't1' },
    cap: { max: 10, left: 10 },
    known: [],
    readSource: async (path) => (files[path] === undefined ? undefined : makeSourceText(Buffer.from(files[path]))),
    ...more,
  })
}
async function reasonsOf(findings: unknown[], more: Partial<SliceReview> = {}) {
  const {
    dropped = [],
    accepted = [],
    fault,
  } = (await ingest(answer(findings), more)) as Record<string, never[]> & { fault?: string }
  expect(fault).toBeUndefined()
  return { accepted: accepted.length, dropped: dropped.map(({ layer, reason }) => `${layer}: ${reason}`) }
}

describe('an answer that cannot be used', () => {
  it.each([
    ['prose', 'I found nothing unusual.', /is not JSON/],
    ['nothing', ' ', /is empty/],
    ['a part', answer([item()]).slice(0, -40), /is cut off/],
    ['another version', answer([], { schemaVersion: 1 }), /schemaVersion of the answer must be 2/],
    ['a foreign slice', answer([], { scan: { sliceId: 's2' } }), /another slice/],
    ['no slice', answer([], { scan: null }), /another slice/],
    ['no list', answer({ a: 1 }), /must be a list/],
    ['endless nesting', `{"a":${'['.repeat(100_000)}`, /not JSON|cut off/],
    ['far too much', `{"a":"${'x'.repeat(maxReviewAnswerLength)}"}`, /more than/],
  ])('is a fault that says what to do: %s', async (_name, text, expected) => {
    expect(await ingest(text)).toEqual({ fault: expect.stringMatching(expected) })
  })

  it('is none when there is a fence or a sentence around it', async () => {
    const text = `Here it is:\n\`\`\`json\n${answer([item()])}\n\`\`\`\nDone.`
    expect(await ingest(text)).toMatchObject({ accepted: [{ title: 'SQL injection in show' }], dropped: [] })
  })
})

describe('what is dropped', () => {
  it.each([
    ['title is required', item({ title: '  ' })],
    ['title is required', 'text'],
    ['title is required', null],
    ['remediation is required', item({ remediation: 7 })],
    ['evidence is required', item({ evidence: [] })],
    ['unsupported severity "apocalyptic"', item({ severity: 'Apocalyptic' })],
    ['unsupported confidence "sure"', item({ confidence: 'sure' })],
    ['evidence path "../etc/passwd" is not repo-relative and safe', item({}, { path: '../etc/passwd' })],
    ['evidence path "/etc/passwd" is not repo-relative and safe', item({}, { path: '/etc/passwd' })],
    ['evidence path "" is not repo-relative and safe', item({ evidence: [7] })],
    ['evidence file was not included in review context', item({}, { path: 'app/unseen.py' })],
    ['evidence line ranges must include both startLine and endLine', item({}, { endLine: null })],
    ['evidence line range is inverted', item({}, { startLine: 4, endLine: 3 })],
    ['evidence line range is outside included review context', item({}, { startLine: 4, endLine: 900 })],
    ['evidence line range is outside included review context', item({}, { startLine: 0, endLine: 4 })],
    [
      'evidence line range is outside included review context',
      item({}, { path: 'app/long.py', startLine: 30, endLine: 31 }),
    ],
    ['evidence quote does not match cited file range', item({}, { quote: 'db.run("delete " + q)' })],
    ['evidence quote does not match cited file range', item({}, { quote: 'q', startLine: 1, endLine: 1 })],
  ])('by validation: %s', async (reason, finding) => {
    expect(await reasonsOf([finding])).toEqual({ accepted: 0, dropped: [`validation: ${reason}`] })
  })

  it('by the cap is the least of what is new, and never what is known', async () => {
    const at = (line: number, severity: string) =>
      item({ severity, title: `t${line}` }, { path: 'app/long.py', startLine: line, endLine: line, quote: null })
    const findings = [at(1, 'low'), at(2, 'critical'), at(3, 'medium'), at(4, 'high')]
    const all = await ingest(answer(findings))
    const known = 'accepted' in all ? all.accepted.filter(({ title }) => title === 't1') : []
    const capped = await ingest(answer(findings), { cap: { max: 10, left: 2 }, known })
    if ('fault' in capped) throw new Error(capped.fault)
    expect(capped.accepted.map(({ title }) => title)).toEqual(['t2', 't4', 't1'])
    expect(capped.dropped).toMatchObject([{ layer: 'cap', reason: 'maxFindingsPerRun limit 10 reached' }])
  })

  it('of ten thousand findings is counted in a bounded number of records', async () => {
    const findings = Array.from({ length: 10_000 }, () => ({ title: 'x' }))
    const ingested = await ingest(answer(findings))
    if ('fault' in ingested) throw new Error(ingested.fault)
    expect(ingested.dropped).toHaveLength(1001)
    expect(JSON.parse(ingested.dropped.at(-1)?.sampleJSON ?? '')).toEqual({ count: 9000 })
    expect(new Set(ingested.dropped.map(({ id }) => id)).size).toBe(1001)
  })

  it('is recorded with a sample without secrets, under the same id when it is recorded again', async () => {
    const key = `ghp_${'a1'.repeat(20)}`
    const text = answer([item({ title: `Key ${key} in use`, severity: 'none' })])
    const [first, second] = [await ingest(text), await ingest(text)]
    expect(first).toEqual(second)
    expect(JSON.stringify(first)).not.toContain(key)
    expect(first).toMatchObject({ dropped: [{ id: expect.stringMatching(/^drop_fnd_[0-9a-f]{12}$/) }] })
  })

  it('is not a known finding that is worded like one that would be filtered', async () => {
    const worded = item({ title: 'Best practice: use parameters', summary: 'Consider adding them.' })
    expect(await reasonsOf([worded])).toEqual({
      accepted: 0,
      dropped: ['filter: generic best-practice hardening request without exploit path'],
    })
    const all = await ingest(answer([item()]))
    expect(await reasonsOf([worded], { known: 'accepted' in all ? all.accepted : [] })).toEqual({
      accepted: 1,
      dropped: [],
    })
    expect(await reasonsOf([worded, item()])).toMatchObject({ accepted: 1 })
  })
})

describe('a finding that is kept', () => {
  it('has the lines and the function of the file, whatever the reviewer says', async () => {
    const counted = item(
      { severity: 'HIGH ' },
      { startLine: 1, endLine: 2, symbol: 'made_up', quote: 'db.run( "select "+q )' },
    )
    expect(await ingest(answer([counted, counted]))).toMatchObject({
      accepted: [
        {
          severity: 'high',
          filePath: 'app/web.py',
          line: 4,
          evidence: [
            { kind: 'file', startLine: 4, endLine: 4, symbol: 'show', quote: '    return db.run("select " + q)' },
          ],
        },
      ],
      dropped: [],
    })
  })

  it('holds no secret of the code that it quotes, and no control characters', async () => {
    const key = `ghp_${'b2'.repeat(20)}`
    const content = `def show():\n    key = "${key}"\n`
    const found = await ingest(
      answer([item({ title: 'Key \u001b[2Jin the source' }, { startLine: 2, endLine: 2, quote: key })]),
      {
        readSource: async () => makeSourceText(Buffer.from(content)),
      },
    )
    expect(found).toMatchObject({ accepted: [{ title: 'Key [2Jin the source' }] })
    expect(JSON.stringify(found)).not.toContain(key)
  })
})

describe('the fingerprint', () => {
  const anchor = { category: 'SQL Injection', symbol: 'show', quote: '  db.run("select " + q)' }

  it('is the same for other words, blanks and lines, and another for other code', () => {
    const same = { category: 'CWE-89', symbol: 'show', quote: 'db.run("select "+q)\n\n' }
    expect(fingerprintOf(same)).toBe(fingerprintOf(anchor))
    expect(fingerprintOf({ ...anchor, quote: 'db.run(q)' })).not.toBe(fingerprintOf(anchor))
    expect(fingerprintOf({ ...anchor, symbol: 'other' })).not.toBe(fingerprintOf(anchor))
    expect(fingerprintOf({ ...anchor, category: 'xss' })).not.toBe(fingerprintOf(anchor))
    expect(weaknessFamilyOf('Business logic: refunds')).toBe('business-logic-refunds')
  })

  it('is that of the known finding when code moved to another file, and a new one when it was copied', async () => {
    const before = await ingest(answer([item()]))
    const [draft] = 'accepted' in before ? before.accepted : []
    const known: MatchableFinding[] = draft === undefined ? [] : [{ ...draft, filePath: 'app/former.py' }]
    const identified = async (former: string | undefined) => {
      const found = await ingest(answer([item()]), {
        known,
        readSource: async (path) => {
          const text = path === 'app/former.py' ? former : files[path]
          return text === undefined ? undefined : makeSourceText(Buffer.from(text))
        },
      })
      return 'accepted' in found ? found.accepted[0]?.fingerprint : undefined
    }
    expect(await identified(undefined)).toBe(draft?.fingerprint)
    expect(await identified('x = 1\n')).toBe(draft?.fingerprint)
    expect(await identified(files['app/web.py'])).not.toBe(draft?.fingerprint)
  })
})
