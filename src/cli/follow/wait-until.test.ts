// `--wait`, the same on every command that has it: the answer is what came of it, and the exit code says whether it failed.
import { describe, expect, it } from 'vitest'
import { pageOf, recordContext } from '../../../test/fixtures/cli/recording-context.ts'
import { runCommandLine } from '../program.ts'

const monitors = '/api/v1/monitors/repositories/:name'
const scans = '/api/v1/security/repositories'
const findings = '/api/v1/security/findings/:id'
const named = (name: string, spec: object = {}) => ({ metadata: { name, namespace: 'default' }, spec })

type Ending = { verdict: 'passed' | 'failed'; phase: 'succeeded' | 'failed' }
const endings: Ending[] = [
  { verdict: 'passed', phase: 'succeeded' },
  { verdict: 'failed', phase: 'failed' },
]

/** What the service answers where what was started has ended so. */
function answersFor({ verdict, phase }: Ending) {
  const at = { completedAt: '2030-01-01T00:00:00Z' }
  const run = { id: 'run_1', phase, stage: 'done', reviewedSliceCount: 1, sliceCount: 1, ...at }
  const looked = { id: 'run_1', monitorName: 'reviews', phase: 'succeeded', selectedCount: 1, skippedCount: 0, ...at }
  const item = { number: 42, state: 'open', labels: [], headSHA: 'a'.repeat(40), lastVerdict: verdict }
  const began = {
    eventType: 'review_task_created',
    itemNumber: 42,
    metadata: { taskName: 't' },
    createdAt: at.completedAt,
  }
  return {
    'GET /api/v1/agents/:name': named('auditor'),
    [`POST ${scans}`]: named('shop'),
    [`POST ${scans}/:name/scans`]: run,
    [`GET ${scans}/:name/scans`]: pageOf([run]),
    [`POST ${findings}/patch`]: { id: 'pat_1', findingID: 'fnd_1', taskName: 't', status: 'pending' },
    [`GET ${findings}/patches`]: pageOf([{ id: 'pat_1', status: verdict, branch: 'fix' }]),
    [`POST ${monitors}/runs`]: looked,
    [`GET ${monitors}/runs`]: pageOf([looked]),
    'GET /api/v1/monitors/events': pageOf([began]),
    [`GET ${monitors}/items`]: ({ query }: { query?: unknown }) =>
      pageOf(
        [item].filter(({ lastVerdict }) => ((query as { verdict?: string })?.verdict ?? lastVerdict) === lastVerdict),
      ),
    [`GET ${monitors}/reviews`]: pageOf([]),
    [`GET ${monitors}`]: named('reviews', {
      owner: 'acme',
      repository: 'site',
      policy: {},
      targets: { pullRequests: {} },
    }),
  }
}

const lines = [
  ['scan', 'create', 'shop', '--repo', 'https://github.com/acme/site', '--agent', 'auditor'],
  ['scan', 'run', 'shop'],
  ['scan', 'patch', 'fnd_1'],
  ['monitor', 'run', 'reviews'],
  ['monitor', 'run', 'reviews', '--pr', '42'],
]

describe('--wait', () => {
  it.each(lines.flatMap((line) => endings.map((ending) => ({ line, ending }))))(
    'of $line where it $ending.phase: the answer in the form that is asked for, and the exit code',
    async ({ line, ending }) => {
      const recording = recordContext({ answers: answersFor(ending) })
      const code = await runCommandLine([...line, '--wait', '-o', 'json'], recording.context)
      expect([code, recording.noted()]).toEqual([ending.verdict === 'failed' ? 1 : 0, expect.anything()])
      expect(JSON.parse(recording.printed())).toEqual(expect.anything())
    },
  )

  it('names the pull requests whose reviews failed', async () => {
    const recording = recordContext({ answers: answersFor({ verdict: 'failed', phase: 'failed' }) })
    expect(await runCommandLine(['monitor', 'run', 'reviews', '--wait'], recording.context)).toBe(1)
    expect(recording.noted()).toMatch(/1 review failed, of 42; .*monitor why 42 reviews/)
  })
})
