import { describe, expect, it } from 'vitest'
import { checkPatch, listPatchFiles } from './patch-check.ts'

const diff = 'diff --git a/s.go b/s.go\nindex 1..2 100644\n--- a/s.go\n+++ b/s.go\n@@ -1 +1 @@\n-a\n+b\n'
const said = { schemaVersion: 1, findingId: 'fnd_1', summary: 'uses parameters', changedFiles: ['s.go'] }
const workspace = { version: 1, headSHA: 'c2', diff, files: ['s.go'], pushBranch: 'b' }
const check = (summary: object | string, more: object = {}) =>
  checkPatch(
    JSON.stringify({
      ...workspace,
      ...more,
      summary: typeof summary === 'string' ? summary : JSON.stringify(summary),
    }),
    { findingId: 'fnd_1', branch: 'b', isTried: false },
  )

describe('a patch', () => {
  it('counts when its summary says what the workspace shows', () => {
    expect(check(said)).toEqual({
      patch: expect.objectContaining({ summary: 'uses parameters', changedFiles: ['s.go'], headCommit: 'c2' }),
    })
    const same = diff.replaceAll('\n', '\r\n').replace('index 1..2', 'index 3..4')
    expect(check({ ...said, diff: same })).toHaveProperty('patch')
  })

  it('takes from its author neither that tests pass nor, when they are run anyway, that they fail', () => {
    const tests = { testsRun: [{ command: 't', exitCode: 0 }], regressionTest: { path: 's.go', failsWithout: true } }
    expect(check({ ...said, ...tests })).toEqual({
      patch: {
        summary: 'uses parameters',
        changedFiles: ['s.go'],
        headCommit: 'c2',
        risk: undefined,
        regressionTest: { path: 's.go' },
      },
    })
    expect(check({ ...said, regressionTest: { path: 'other.go' } })).toMatchObject({
      patch: { regressionTest: undefined },
    })
    const failing = JSON.stringify({ ...said, testsRun: [{ command: 't', exitCode: 1 }] })
    const text = JSON.stringify({ ...workspace, summary: failing })
    expect(checkPatch(text, { findingId: 'fnd_1', branch: 'b', isTried: true })).toHaveProperty('patch')
  })

  it.each<[string | object, object, string]>([
    ['done!', {}, 'not in the form'],
    [{ ...said, findingId: 'fnd_2' }, {}, 'about another finding'],
    [said, { diff: '' }, 'nothing was changed'],
    [said, { headSHA: undefined }, 'nothing was changed'],
    [said, { diffTruncated: true }, 'too large'],
    [said, { pushBranch: undefined, pushError: 'the branch is protected' }, 'the branch is protected'],
    [said, { pushBranch: 'main' }, 'not pushed'],
    [said, { files: ['s.go', 'ci.yml'] }, 'leaves out changed files: ci.yml'],
    [{ ...said, changedFiles: ['s.go', 't.go'] }, {}, 'were not changed: t.go'],
    [{ ...said, diff: diff.replace('+b', '+c') }, {}, 'is not the change'],
    [{ ...said, testsRun: [{ command: 'go test', exitCode: 1 }] }, {}, 'go test ended with 1'],
  ])('does not count otherwise, and says why: %j %j', (summary, more, problem) => {
    expect(check(summary, more)).toEqual({ problem: expect.stringContaining(problem) })
  })
})

describe('the files of a patch', () => {
  it('are its change and the JSON of its author, under the name of the finding, as far as there are any', () => {
    const text = (summary: string, change: string) => JSON.stringify({ ...workspace, summary, diff: change })
    const name = 'security-patch-fnd_1'
    expect(listPatchFiles(text('```json\n{"risk":"low"}\n```', diff), 'fnd_1')).toEqual([
      { field: 'diffArtifact', filename: `${name}.diff`, text: diff },
      { field: 'summaryArtifact', filename: `${name}.json`, text: '{"risk":"low"}' },
    ])
    expect(listPatchFiles(text('', ''), 'fnd_1')).toEqual([])
  })
})
