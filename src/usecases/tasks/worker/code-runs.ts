// Runs an attempt's code in a sandbox of the service, for a worker without its own (BUILT-024).
import type { CodeAvailability, CodeOutcome, CodeRun } from '../../../contract/api/workspaces/code-runs.ts'
import type { Task } from '../../../contract/kinds/tasks/task.ts'
import { SvcError } from '../../../errors.ts'
import type { WorkerIdentity } from '../../../ports/identity/identity.ts'
import type { SandboxOutcome, WorkspaceFile } from '../../../ports/workspaces/sandbox.ts'
import { callerKey, readCaller } from '../../../rules/identity/caller-identity.ts'
import type { UsecaseDeps } from '../../service/deps.ts'
import { requireRunningTask, type TaskPath } from './live-attempt.ts'

/** NotConfigured when workers run their code themselves, or when no sandbox is available. */
export type WorkerCodeRuns = {
  checkCode(identity: WorkerIdentity, path: TaskPath): Promise<CodeAvailability>
  /** Runs to the end, the timeout or the abort. */
  runCode(identity: WorkerIdentity, path: TaskPath, run: CodeRun, signal: AbortSignal): Promise<CodeOutcome>
}

type CarriedFile = NonNullable<CodeRun['workspaceFiles']>[number]

function unpack({ path, content }: CarriedFile): WorkspaceFile {
  return { path, bytes: Buffer.from(content, 'base64') }
}

function pack({ path, bytes }: WorkspaceFile): CarriedFile {
  return { path, content: Buffer.from(bytes).toString('base64') }
}

function present({ changes, ...outcome }: SandboxOutcome): CodeOutcome {
  if (changes === undefined) return outcome
  return { ...outcome, changes: { ...changes, written: changes.written.map(pack) } }
}

/** A task's runs count as its creator's; those of tasks without a known creator count by namespace. */
function nameCreator(task: Task): string {
  const { kind, id, name } = readCaller(task) ?? {}
  if (kind !== undefined && id !== undefined) return callerKey({ kind, id, name: name ?? id })
  return name ?? task.metadata.namespace
}

export function createWorkerCodeRuns({ ports }: UsecaseDeps): WorkerCodeRuns {
  const { resources, sandbox, runners } = ports

  /** `folder`: the attempt's own, which its code sees; absent: its files are sent along. */
  async function requireSandbox({ taskUid, attempt }: WorkerIdentity): Promise<CodeAvailability & { folder?: string }> {
    const state = await sandbox.check()
    if (!state.available) throw new SvcError('NotConfigured', `${state.reason}; ${state.suggestion}`)
    const { kind, languages } = state
    if (kind === 'pod') return { languages }
    const folder = runners?.folderOf({ taskUid, attempt })
    if (folder !== undefined) return { languages, seesWorkspace: true, folder }
    throw new SvcError('NotConfigured', 'the workers of this service run code in their own sandbox')
  }

  return {
    async checkCode(identity, path) {
      await requireRunningTask(resources, identity, path)
      const { folder: _, ...availability } = await requireSandbox(identity)
      return availability
    },
    async runCode(identity, path, { workspaceFiles, stdin, env, readOnlyFiles, ...run }, signal) {
      const task = await requireRunningTask(resources, identity, path)
      const { folder } = await requireSandbox(identity)
      const command = {
        ...run,
        ...(folder !== undefined && { workspace: folder }),
        caller: nameCreator(task),
        stdin,
        env,
        readOnlyFiles,
        workspaceFiles: workspaceFiles?.map(unpack),
      }
      return present(await sandbox.run(command, signal))
    },
  }
}
