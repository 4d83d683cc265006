import { describe, expect, it } from 'vitest'
import type { WorkloadSpec } from '../../ports/tasks/workloads.ts'
import { type GatedWorkloadsOptions, withGate } from './gated-workloads.ts'

const options: GatedWorkloadsOptions = {
  url: () => 'http://svc.svc-system.svc:8082',
  mint: async ({ taskUid, attempt }) => ({ user: 'attempt', password: `made-up-${taskUid}-${attempt}` }),
  listVariables: (proxy) => ({ HTTPS_PROXY: proxy }),
}
const network = { rules: { allow: [], onUnknown: 'refuse' as const, ports: [] }, from: 'task' as const }
const proxy = 'http://attempt:made-up-uid-1-2@svc.svc-system.svc:8082'

async function pass(changed: Partial<WorkloadSpec>): Promise<WorkloadSpec> {
  const passed: WorkloadSpec[] = []
  const inner = { ensure: async (spec: WorkloadSpec) => void passed.push(spec) }
  const run = {
    kind: 'command' as const,
    command: ['a'],
    args: [],
    env: { A: '1', HTTPS_PROXY: 'mine' },
    redact: ['x'],
  }
  const key = { taskUid: 'uid-1', attempt: 2 }
  await withGate(inner, options).ensure({ key, namespace: 'a', taskName: 't', limits: {}, run, ...changed })
  return passed[0] as WorkloadSpec
}

describe('attempts whose network is the gate', () => {
  it('have its address with their own credential, which their log does not show', async () => {
    const { run } = await pass({ network })
    expect(run).toMatchObject({ env: { A: '1', HTTPS_PROXY: proxy }, redact: ['x', 'made-up-uid-1-2'] })
  })

  it('have it in the assignment of their worker, for the program alone', async () => {
    const assignment = { task: { variables: { A: '1' } }, redact: [] }
    const run = { kind: 'worker' as const, assignment: assignment as never }
    const workspace = { provider: 'agent-sandbox' } as never
    const passed = await pass({ network, run })
    const variables = { A: '1', HTTPS_PROXY: proxy }
    expect(passed.run).toMatchObject({ assignment: { task: { variables }, redact: ['made-up-uid-1-2'] } })
    expect((await pass({ network, run, workspace })).run).toMatchObject({
      assignment: { task: { variables }, redact: [] },
    })
  })

  it('are the only ones', async () => {
    expect((await pass({})).run).toMatchObject({ env: { HTTPS_PROXY: 'mine' }, redact: ['x'] })
  })
})
