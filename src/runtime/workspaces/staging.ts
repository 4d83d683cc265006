// Brings the worker program and the work of one attempt into its workspace.
import { posix } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { WorkAssignment } from '../../contract/api/tasks/assignment.ts'
import {
  type ResolvedWorkspace,
  workspaceFiles,
  workspaceFolders,
  workspaceVariables,
} from '../../contract/api/workspaces/execution-workspaces.ts'
import type { WorkloadSpec } from '../../ports/tasks/workloads.ts'
import type { ReadyWorkspace, WorkspaceCommand } from '../../ports/workspaces/execution-workspaces.ts'
import { gateSocketInside } from '../network/forwarder.ts'
import type { WorkspaceAttempt, WorkspaceWorkloadsOptions } from './attempt.ts'
import { requireShort, runShort } from './commands.ts'

/** The worker says its outcome, and little else. */
const outputBytes = 256 * 1024
/** A provider takes a few MiB at a time. */
const partBytes = 2 * 1024 ** 2

/** Relative to the root. */
export function commandFolder(command: string): string {
  return `${workspaceFolders.own}/${command}`
}

/** Large content in parts, which a command puts together. */
export async function stageLarge(
  options: WorkspaceWorkloadsOptions,
  { workspaces, facts: { claim } }: WorkspaceAttempt,
  path: string,
  bytes: Uint8Array,
): Promise<void> {
  const parts = Math.max(1, Math.ceil(bytes.length / partBytes))
  for (let at = 0; at < parts; at += 1) {
    const part = bytes.subarray(at * partBytes, (at + 1) * partBytes)
    await workspaces.stage(claim, [{ path: `${path}.part`, bytes: part, mode: 0o600 }])
    const script = at === 0 ? 'mv -f "$1.part" "$1"' : 'cat "$1.part" >>"$1" && rm "$1.part"'
    await requireShort({ ...options, workspaces }, claim, { command: ['sh', '-c', script, 'put', path] })
  }
}

/** The command of the worker program, which is put there unless it is there. */
async function findWorker(
  options: WorkspaceWorkloadsOptions,
  attempt: WorkspaceAttempt,
  ready: ReadyWorkspace,
): Promise<string[]> {
  if (ready.worker !== undefined) return [...ready.worker]
  const { workspaces, facts } = attempt
  const { version, archive } = await options.readBundle()
  const folder = `${workspaceFolders.own}/worker-${version}`
  const program = ['node', posix.join(ready.root, folder, 'worker.js')]
  const deps = { ...options, workspaces }
  const there = await runShort(deps, facts.claim, { command: ['test', '-e', `${folder}/complete`] })
  if (there.exitCode === 0) return program
  await stageLarge(options, attempt, `${folder}.tar.gz`, archive)
  const unpack = 'mkdir -p "$1" && tar -xzf "$1.tar.gz" -C "$1" && rm "$1.tar.gz" && : >"$1/complete"'
  await requireShort(deps, facts.claim, { command: ['sh', '-c', unpack, 'unpack', folder] })
  return program
}

/** WS-003: everything that was resolved, as the worker finds it. */
function listVariables(
  { claim, template, pool, ...workspace }: ResolvedWorkspace,
  assignment: WorkAssignment,
): Record<string, string> {
  const { namespace, name } = assignment.task
  const values: Record<string, string | number | boolean | undefined> = {
    ENABLED: true,
    PROVIDER: workspace.provider,
    TEMPLATE_NAME: template.name,
    TEMPLATE_NAMESPACE: template.namespace,
    CLAIM_NAME: claim.name,
    CLAIM_NAMESPACE: claim.namespace,
    REUSE_POLICY: workspace.reusePolicy,
    REUSE_KEY: workspace.reuseKey,
    CLEANUP_POLICY: workspace.cleanupPolicy,
    CLAIM_TIMEOUT_SECONDS: workspace.claimTimeoutSeconds,
    COMMAND_TIMEOUT_SECONDS: workspace.commandTimeoutSeconds,
    BOOT: workspace.boot,
    POOL_NAME: pool?.name,
    POOL_NAMESPACE: pool?.namespace,
    PROCESS_MODE: workspace.processMode,
    // It runs inside already, and makes no workspace itself.
    DEPTH: 1,
    STATUS_ENDPOINT: `${assignment.api.url}/internal/v1/tasks/${namespace}/${name}/execution-workspace/status`,
  }
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      value === undefined ? [] : [[`${workspaceVariables}${name}`, String(value)]],
    ),
  )
}

type Worker = { spec: WorkloadSpec; assignment: WorkAssignment; workspace: ResolvedWorkspace; ready: ReadyWorkspace }

export function timeLimitOf({ limits }: Pick<WorkloadSpec, 'limits'>, workspace: ResolvedWorkspace): number {
  return Math.min(limits.deadlineSeconds ?? Number.POSITIVE_INFINITY, workspace.commandTimeoutSeconds)
}

/** The gate of its program, and where the worker finds it. */
function gateOf({ key, namespace, taskName, network }: WorkloadSpec) {
  if (network === undefined) return {}
  const assigned = { network: { socket: gateSocketInside, isRequired: network.from !== 'service' } }
  return { attempt: { key, namespace, taskName, rules: network.rules }, assigned }
}

/** Stages what the worker needs; the command that starts it and gives it its assignment, as gzipped JSON. */
export async function stageWorker(
  options: WorkspaceWorkloadsOptions,
  attempt: WorkspaceAttempt,
  id: string,
  { spec, assignment, workspace, ready }: Worker,
): Promise<WorkspaceCommand> {
  const program = await findWorker(options, attempt, ready)
  // What ends with this process runs on its machine.
  const network = options.endsOnClose ? gateOf(spec) : {}
  const folder = commandFolder(id)
  return {
    id,
    command: [...program, '--workspace', posix.join(ready.root, folder)],
    env: {
      ...listVariables(workspace, assignment),
      // What programs leave there is gone with the folder of the attempt.
      TMPDIR: posix.join(ready.root, folder, workspaceFiles.temporary),
    },
    // Never a file: another program in the workspace could read it.
    stdin: await promisify(gzip)(Buffer.from(JSON.stringify({ ...assignment, ...network.assigned }))),
    timeoutSeconds: timeLimitOf(spec, workspace),
    maxOutputBytes: outputBytes,
    leavesPrograms: true,
    ...(network.attempt && { network: network.attempt }),
  }
}
