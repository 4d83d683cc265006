import { describe, expect, it } from 'vitest'
import { readDiffLines } from './diff-lines.ts'
import { readVerdict } from './verdict.ts'

const asked = { repo: 'Acme/Site', number: 7, headSHA: 'a'.repeat(40) }
const diff = '--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1,2 +1,3 @@\n one\n+two\n three\n'
const verdict = (more: object = {}) => ({
  schemaVersion: 'svc.prReview.v1',
  repo: 'acme/site',
  prNumber: 7,
  headSHA: asked.headSHA,
  verdict: 'passed',
  confidence: 'low',
  summary: 'Fine: {"a": "}"}.',
  security: { status: 'clear' },
  ...more,
})
const read = (answer: string) => readVerdict(answer, asked, readDiffLines(diff))

describe('a verdict', () => {
  it.each([
    ['as it is', JSON.stringify(verdict())],
    ['in a fence', `Here it is:\n\`\`\`json\n${JSON.stringify(verdict(), null, 2)}\n\`\`\`\nDone {`],
    ['of a structured result', JSON.stringify({ version: 1, summary: JSON.stringify(verdict()) })],
    ['with the commit in capitals', JSON.stringify(verdict({ headSHA: asked.headSHA.toUpperCase() }))],
  ])('is read %s', (_how, answer) => {
    expect(read(answer)).toMatchObject({ verdict: { verdict: 'passed', summary: 'Fine: {"a": "}"}.' } })
  })

  it('keeps lines that the diff shows, and no others', () => {
    const findings = [1, 2, 9].map((line) => {
      return { priority: 'P1', title: `${line}`, body: 'x', file: 'src/a.ts', line }
    })
    expect(read(JSON.stringify(verdict({ findings })))).toMatchObject({
      verdict: { findings: [{ line: 1 }, { line: 2 }, { line: null }] },
    })
  })

  // A scan that starts anew at each quote would take minutes.
  it.each(['\\"', 'a\\"', '{', '"', '\\'])('is not looked for again and again in a text full of %s', (part) => {
    const answer = `{"${part.repeat(1_000_000 / part.length)}`
    expect(read(answer)).toEqual({ problem: 'the answer of the reviewer has no JSON in it' })
  })
})
