// The adapter of actors against a double of their service: gRPC, router and daemons that really run commands.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { WorkspaceClaim } from '../../src/ports/execution-workspaces.ts'
import { type ActorsDouble, type OpenedActors, openActors, startActors } from '../fixtures/actors/actors.ts'

let double: ActorsDouble
let opened: OpenedActors

beforeAll(async () => {
  double = await startActors()
  opened = openActors(double)
})
afterAll(async () => {
  await opened.close()
  await double.stop()
})

let count = 0
function makeClaim(rest: Partial<WorkspaceClaim> = {}): WorkspaceClaim {
  count += 1
  return {
    name: `svc-ws-${count}`,
    namespace: 'team-a',
    template: { namespace: 'templates', name: 'agents' },
    labels: {},
    ...rest,
  }
}
const wait = { timeoutMs: 20_000, signal: new AbortController().signal }

async function run(claim: WorkspaceClaim, command: string[], id = 'one') {
  const { workspaces } = opened
  await workspaces.start(claim, { id, command, env: {}, timeoutSeconds: 20, maxOutputBytes: 10_000 })
  for (;;) {
    const state = await workspaces.observeCommand(claim, id)
    if (state.phase === 'Ended') return state
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

describe('a workspace that is an actor', () => {
  it('is made, used and removed', async () => {
    const { workspaces } = opened
    const claim = makeClaim()
    await workspaces.claim(claim)
    await workspaces.claim(claim)
    const ready = await workspaces.waitUntilReady(claim, wait)
    expect(ready).toMatchObject({ reused: false, root: '/app', placement: 'node-1' })
    await workspaces.stage(claim, [{ path: 'a/b.txt', bytes: Buffer.from('hello'), mode: 0o600 }])
    expect(await run(claim, ['cat', 'a/b.txt'])).toMatchObject({ exitCode: 0, stdout: 'hello' })
    await workspaces.suspend(claim)
    expect(await workspaces.observe(claim)).toEqual({ phase: 'Suspended' })
    await workspaces.delete(claim)
    expect(await workspaces.observe(claim)).toEqual({ phase: 'Absent' })
  })
})
afterEach(() => undefined)
