import { describe, expect, it } from 'vitest'
import { systemClock as clock, systemIds as ids } from '../../lib/system-clock.ts'
import type { CommandState, WorkspaceCommand } from '../../ports/workspaces/execution-workspaces.ts'
import { guardExits } from '../jobs/network-guard.ts'
import type { WorkspaceAttempt, WorkspaceWorkloadsOptions } from './attempt.ts'
import { guardNetwork } from './network.ts'

const network = { rules: { allow: [], onUnknown: 'refuse' as const, ports: [443] }, from: 'service' as const }
const gate = { host: 'svc.svc-system.svc', port: 8082 }

type Case = { exitCode?: number; stderr?: string; guarded?: boolean; canLimit?: boolean; hasGate?: boolean }

function open({ exitCode = 0, stderr = '', guarded = true, canLimit = true, hasGate = true }: Case) {
  const limits: boolean[] = []
  const commands: WorkspaceCommand[] = []
  const ended: CommandState = { phase: 'Ended', exitCode, stdout: '', stderr, truncated: false }
  const workspaces = {
    ...(canLimit && { limitNetwork: async (_claim: object, isLimited: boolean) => void limits.push(isLimited) }),
    start: async (_claim: object, command: WorkspaceCommand) => void commands.push(command),
    observeCommand: async () => ended,
  }
  const reach = { hostAliases: [], egress: [] }
  const guard = {
    gate: { prepare: async () => (guarded ? { reach, guarded: gate } : { reach }) },
    listOutside: async () => [{ host: '203.0.113.9', port: 443 }],
  }
  const options = { clock, ids, ...(hasGate && { guard }) } as unknown as WorkspaceWorkloadsOptions
  const attempt = {
    workspaces,
    facts: { claim: { namespace: 'team', name: 'svc-ws-1' } },
  } as unknown as WorkspaceAttempt
  const run = (spec: object, reused = false) => guardNetwork(options, attempt, spec, { reused })
  return { run, limits, commands }
}

describe('the network of a workspace on a cluster', () => {
  it('is limited, and tried inside before the worker comes', async () => {
    const { run, limits, commands } = open({})
    await run({ network })
    expect(limits).toEqual([true])
    expect(commands.map(({ command }) => command.slice(-4))).toEqual([[gate.host, '8082', '20', '203.0.113.9|443']])
  })

  it.each<[string, Case]>([
    ['whose pod the policy selects', {}],
    ['of actors, which others limit', { canLimit: false }],
  ])('refuses a workspace %s, and says what it reaches and what to do', async (_what, changes) => {
    const stderr = 'no network policy keeps it from other hosts: it reaches 203.0.113.9:443\n'
    const refused = open({ ...changes, exitCode: guardExits.missing, stderr }).run({ network })
    await expect(refused).rejects.toMatchObject({
      reason: 'TemplateIncompatible',
      message: expect.stringMatching(/it reaches 203\.0\.113\.9:443; .*networkPolicyManagement: Unmanaged.*"open"/),
    })
  })

  it('is refused also when the guard says nothing', async () => {
    const refused = open({ exitCode: 124 }).run({ network })
    await expect(refused).rejects.toThrow('the guard of its network ended with exit code 124')
  })

  it('is not tried where no policies are enforced, nor where there is no gate', async () => {
    const unenforced = open({ guarded: false })
    await unenforced.run({ network })
    const none = open({ hasGate: false })
    await none.run({ network })
    expect([unenforced.commands, none.commands, none.limits]).toEqual([[], [], []])
  })

  it('is no longer limited for a task of the session whose network is open', async () => {
    const { run, limits, commands } = open({})
    await run({})
    await run({}, true)
    expect([limits, commands]).toEqual([[false], []])
  })
})
