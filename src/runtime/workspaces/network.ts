// Workspaces that others provide are limited by policies of the service and of the administrator. Whether these keep the workspace from all
// but the gate is tried inside it, before its worker gets anything.
import { lookup } from 'node:dns/promises'
import { listPresetHosts } from '../../contract/values/network-presets.ts'
import { once } from '../../lib/once.ts'
import type { WorkloadSpec } from '../../ports/tasks/workloads.ts'
import { type ReadyWorkspace, WorkspaceError } from '../../ports/workspaces/execution-workspaces.ts'
import { type GateAddress, guardSeconds, makeGuardCommand } from '../jobs/network-guard.ts'
import type { WorkspaceAttempt, WorkspaceWorkloadsOptions } from './attempt.ts'
import { runShort } from './commands.ts'

const lookupMs = 3000

/** Of a host that programs often ask for, which is looked up once. Nothing where the service finds none. */
export const listPublicAddresses = once(async (): Promise<GateAddress[]> => {
  const name = listPresetHosts('codehost').find((host) => !host.startsWith('*')) ?? ''
  const found = lookup(name, { all: true }).catch(() => [])
  const late = new Promise<[]>((resolve) => setTimeout(() => resolve([]), lookupMs).unref())
  return (await Promise.race([found, late])).map(({ address }) => ({ host: address, port: 443 }))
})

const triesInside = 20
const advice =
  'what its template and other policies allow adds up: set networkPolicyManagement: Unmanaged in the SandboxTemplate, or let its networkPolicy and those of the ' +
  'namespace (for actors: of their WorkerPool) lead to the service and its gate alone; or give the task the network "open"'

/** WorkspaceError unless the workspace is limited as the attempt is to be. */
export async function guardNetwork(
  options: WorkspaceWorkloadsOptions,
  { workspaces, facts: { claim } }: WorkspaceAttempt,
  { network }: Pick<WorkloadSpec, 'network'>,
  { reused }: Pick<ReadyWorkspace, 'reused'>,
): Promise<void> {
  const { guard } = options
  if (guard === undefined) return
  if (network !== undefined || reused) await workspaces.limitNetwork?.(claim, network !== undefined)
  if (network === undefined) return
  const { guarded } = await guard.gate.prepare()
  // The log of the service says that nothing on this cluster enforces policies.
  if (guarded === undefined) return
  const command = makeGuardCommand(guarded, { outside: await guard.listOutside(), tries: triesInside })
  const end = await runShort({ ...options, workspaces }, claim, { command, timeoutSeconds: 2 * guardSeconds })
  if (end.exitCode === 0) return
  const why = end.stderr.trim().slice(-300) || `the guard of its network ended with exit code ${end.exitCode}`
  throw new WorkspaceError('TemplateIncompatible', `its network is not limited: ${why}; ${advice}`)
}
