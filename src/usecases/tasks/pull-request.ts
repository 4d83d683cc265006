// The pull request of a branch that a task has pushed, opened for a person with the login of the task's workspace.
import type { TaskPullRequest, TaskPullRequestBody } from '../../contract/api/tasks/pull-requests.ts'
import { readStructuredResult } from '../../contract/api/tasks/structured-result.ts'
import { isTerminalPhase, promptOf, type Task } from '../../contract/kinds/tasks/task.ts'
import { SvcError } from '../../errors.ts'
import { openCodeHost } from '../../lookup/logins.ts'
import { readResultText } from '../../lookup/result-text.ts'
import { redactText } from '../../observability/redaction.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { Ports } from '../../ports/index.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import { isConfined } from '../../rules/tasks/bounds.ts'
import { gitWorkspaceOf } from '../../rules/workspaces/git-workspace.ts'
import { findScope } from '../codehost/code-host-context.ts'
import { requireAccess } from '../identity/access.ts'
import { requireActingInTask } from '../resources/admission/acting.ts'
import { notFound } from '../resources/listing.ts'
import type { UsecaseDeps } from '../service/deps.ts'

/** Above the diff and the summary of any task. */
const maxResultBytes = 16 * 1024 ** 2
const maxTitleLength = 100

function requireEnded({ metadata: { name }, status }: Task): void {
  const phase = status?.phase
  if (isTerminalPhase(phase)) return
  throw new SvcError('Conflict', `task "${name}" has not ended: it is ${phase ?? 'Pending'}; wait until it has`)
}

type Pushed = { head: string; began: string | undefined; summary: string }

/** InvalidRequest, with what to do, where there is no branch to open it for. */
async function readPushed({ records }: Pick<Ports, 'records'>, task: Task): Promise<Pushed> {
  const { name, uid } = task.metadata
  const text = await readResultText(records.results, { taskUid: uid }, maxResultBytes)
  const { pushBranch, pushError, headSHA, branch, summary } = readStructuredResult(text ?? '')
  if (pushBranch !== undefined) return { head: pushBranch, began: branch, summary }
  const wanted = gitWorkspaceOf(task.spec)?.pushBranch
  const why =
    pushError !== undefined
      ? `its branch was not pushed: ${pushError}`
      : wanted === undefined
        ? 'it was given no branch to push to: set workspace.pushBranch, --push on the command line'
        : headSHA === undefined
          ? 'it changed nothing, so that nothing was pushed'
          : 'it pushed nothing'
  throw new SvcError('InvalidRequest', `task "${name}" has no pushed branch: ${why}`)
}

function nameIt(task: Task): string {
  const [line = ''] = (promptOf(task.spec) ?? '').trim().split('\n')
  if (line === '') return task.metadata.name
  return line.length <= maxTitleLength ? line : `${line.slice(0, maxTitleLength - 1)}…`
}

/** NotFound; Forbidden when its login is not the caller's to use; Conflict before its end; InvalidRequest without a pushed branch, repository or login; the faults of the code host. */
export async function proposeTaskChanges(
  deps: UsecaseDeps,
  caller: Caller,
  key: ResourceKey,
  wish: TaskPullRequestBody,
): Promise<TaskPullRequest> {
  const { ports } = deps
  await requireAccess(ports, caller, { verb: 'update', kind: 'Task', ...key })
  const task = await ports.resources.get('Task', key)
  if (task === undefined) throw await notFound(ports, caller, 'Task', key)
  await requireActingInTask(caller, task, deps)
  if (isConfined(task)) {
    const advice = 'its pull request is opened by what made it, such as a scan'
    throw new SvcError('Conflict', `task "${key.name}" works on what strangers wrote: ${advice}`)
  }
  requireEnded(task)
  const { head, began, summary } = await readPushed(ports, task)
  const host = openCodeHost(ports, await findScope(ports, task, {}))
  const [open] = await host.findPullRequests({ head, open: true })
  if (open !== undefined) return { prNumber: open.number, prURL: open.url, status: 'existing' }
  const base = wish.base ?? gitWorkspaceOf(task.spec)?.branch ?? began ?? (await host.getRepository()).defaultBranch
  if (base === head)
    throw new SvcError('InvalidRequest', `task "${key.name}" pushed to ${base} itself: name another base`)
  const { title = nameIt(task), body = summary, draft } = wish
  const words = { title: redactText(title), body: redactText(body), draft }
  const { pullRequest, created } = await host.createPullRequest({ head, base, ...words })
  await note(ports, task, pullRequest.url)
  return { prNumber: pullRequest.number, prURL: pullRequest.url, status: created ? 'created' : 'existing' }
}

async function note({ records }: Ports, { metadata, status }: Task, url: string): Promise<void> {
  const { namespace, name: taskName, uid: taskUid } = metadata
  const about = { taskUid, namespace, taskName, attempt: status?.attempts ?? 0 }
  await records.events.append({ ...about, type: 'PullRequestOpened', message: url })
}
