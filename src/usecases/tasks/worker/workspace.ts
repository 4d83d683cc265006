// How the execution workspace of an attempt is, in the status of its task.
import type { WorkspaceReport } from '../../../contract/api/workspaces/execution-workspaces.ts'
import type { ExecutionWorkspaceStatus } from '../../../contract/kinds/tasks/task.ts'
import { isSvcError, SvcError } from '../../../errors.ts'
import type { Clock } from '../../../lib/clock.ts'
import { redactText } from '../../../observability/redaction.ts'
import type { WorkerIdentity } from '../../../ports/identity/identity.ts'
import type { Resources } from '../../../ports/resources/resources.ts'
import type { UsecaseDeps } from '../../service/deps.ts'
import { requireRunningTask, type TaskPath } from './live-attempt.ts'

const maxWriteAttempts = 10

type StatusDeps = { resources: Resources; clock: Clock }

/** False when something else was changed meanwhile. */
async function writeOnce(
  { resources, clock }: StatusDeps,
  { namespace, taskName, taskUid, attempt }: WorkerIdentity,
  change: ExecutionWorkspaceStatus,
): Promise<boolean> {
  const task = await resources.get('Task', { namespace, name: taskName })
  if (task?.metadata.uid !== taskUid || task.status?.attempts !== attempt) return true
  const lastUpdateTime = clock.now().toISOString()
  const executionWorkspace = { ...task.status.executionWorkspace, ...change, lastUpdateTime }
  try {
    await resources.updateStatus('Task', { ...task, status: { ...task.status, executionWorkspace } })
    return true
  } catch (error) {
    if (isSvcError(error, 'NotFound')) return true
    if (isSvcError(error, 'Conflict')) return false
    throw error
  }
}

/** Changes what the task of the attempt shows of its workspace; without effect when a later attempt has begun. */
export async function showWorkspaceStatus(
  deps: StatusDeps,
  identity: WorkerIdentity,
  change: ExecutionWorkspaceStatus,
): Promise<void> {
  const shown = change.message === undefined ? change : { ...change, message: redactText(change.message) }
  for (let left = maxWriteAttempts; left > 0; left -= 1) {
    if (await writeOnce(deps, identity, shown)) return
  }
  throw new SvcError('Conflict', 'the status of the task changes too often')
}

export type WorkspaceReports = {
  /** Forbidden for another task, or when the attempt is not the live one; InvalidRequest when it runs in no workspace. */
  reportWorkspace(identity: WorkerIdentity, path: TaskPath, report: WorkspaceReport): Promise<void>
}

export function createWorkspaceReports({ ports }: UsecaseDeps): WorkspaceReports {
  return {
    async reportWorkspace(identity, path, report) {
      const task = await requireRunningTask(ports.resources, identity, path)
      if (task.status?.executionWorkspace === undefined) {
        throw new SvcError('InvalidRequest', 'the task runs in no execution workspace')
      }
      const { message, ...rest } = report
      await showWorkspaceStatus(ports, identity, message === undefined ? rest : report)
    },
  }
}
