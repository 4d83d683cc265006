// Approvals: a running task asks and waits, and a person answers.
import { createHash } from 'node:crypto'
import type { ApprovalAnswerSeen, AskApproval } from '../../contract/api/coordination/coordination.ts'
import { type ApprovalScope, type ApprovalState, networkTool } from '../../contract/api/tasks/approvals.ts'
import type { Approver } from '../../contract/kinds/agents/agent.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { parseDuration } from '../../contract/values/duration.ts'
import { SvcError } from '../../errors.ts'
import { redactText } from '../../observability/redaction.ts'
import type { Caller, WorkerIdentity } from '../../ports/identity/identity.ts'
import type { Approval } from '../../ports/tasks/parking.ts'
import { identifyCaller } from '../../rules/identity/caller-identity.ts'
import { agentKeyOf } from '../../rules/tasks/acting.ts'
import { findAnswerProblem } from '../../rules/tasks/approvers.ts'
import { wakeAnnotation } from '../../rules/tasks/parking.ts'
import { readAskedHost } from '../../rules/workspaces/network-answers.ts'
import { requireAccess, requireListing } from '../identity/access.ts'
import { requireActingInTask } from '../resources/admission/acting.ts'
import type { ResourceUsecases } from '../resources/resources.ts'
import { repeatOnConflict } from '../resources/write-conflict.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { createHostAnswers } from './host-answers.ts'
import { requireRunningTask, type TaskPath } from './worker/live-attempt.ts'

type ListQuery = {
  /** Undefined: all that the caller may list. */
  namespace: string | undefined
  taskName?: string | undefined
  status?: ApprovalState | undefined
  limit: number
}

type ApprovalKey = { namespace: string; id: string }

export type ApprovalUsecases = {
  /** Newest first. */
  list(caller: Caller, query: ListQuery): Promise<Approval[]>
  /** NotFound. */
  get(caller: Caller, key: ApprovalKey): Promise<Approval>
  /**
   * NotFound; Forbidden when the agent's approvers do not name the caller, or the caller may not give the task the host; Conflict when
   * there is an answer already, or the agent is gone; InvalidRequest for a scope of something else than a host, and for `always` where no
   * agent can remember it.
   */
  answer(caller: Caller, key: ApprovalKey, answer: AnswerDraft): Promise<Approval>
}

type AnswerDraft = {
  status: 'approved' | 'declined'
  reason?: string | undefined
  scope?: ApprovalScope | undefined
}

export type WorkerApprovals = {
  /** Asks once for each call and question, and answers at once: what is known, and what is left to wait for. */
  askApproval(
    identity: WorkerIdentity,
    path: TaskPath,
    request: { call: string; args: AskApproval },
  ): Promise<ApprovalAnswerSeen>
}

type Replacing = Pick<ResourceUsecases, 'replace'>

/** Who may answer what. */
function createAnswerAdmission(deps: UsecaseDeps, replacing: Replacing) {
  const { resources } = deps.ports
  const answerHost = createHostAnswers(deps, replacing)

  async function readTask({ namespace, taskName: name, taskUid }: Approval): Promise<Task> {
    const task = await resources.get('Task', { namespace, name })
    if (task?.metadata.uid !== taskUid)
      throw new SvcError('Conflict', `task "${name}" is gone, and its question with it`)
    return task
  }

  /** Of the agent as it is now: who is taken off the list answers no more. */
  async function readApprovers(task: Task): Promise<Approver[] | undefined> {
    const key = agentKeyOf(task)
    if (key === undefined) return undefined
    const agent = await resources.get('Agent', key)
    if (agent !== undefined) return agent.spec.coordination?.approvers
    const fate = `agent "${key.name}" of task "${task.metadata.name}" is gone, and who may answer with it`
    throw new SvcError('Conflict', `${fate}; create the agent again, or cancel the task`)
  }

  async function requireApprover(caller: Caller, approval: Approval): Promise<void> {
    const task = await readTask(approval)
    const approvers = await readApprovers(task)
    const problem = findAnswerProblem(caller, approvers)
    if (problem !== undefined) throw new SvcError('Forbidden', problem)
    // Whom the agent names was chosen by somebody with the right to its Secrets.
    if (approvers === undefined) await requireActingInTask(caller, task, deps)
  }

  /** The scope to store: only the answer about a host has one. */
  async function admitAnswer(caller: Caller, approval: Approval, answer: Omit<AnswerDraft, 'reason'>) {
    if (approval.tool === networkTool) return answerHost(caller, { approval, task: await readTask(approval) }, answer)
    if (answer.scope !== undefined)
      throw new SvcError('InvalidRequest', `scope is for hosts; this is a question about ${approval.tool}`)
    await requireApprover(caller, approval)
    return undefined
  }

  return admitAnswer
}

export function createApprovalUsecases(deps: UsecaseDeps, replacing: Replacing): ApprovalUsecases {
  const { ports } = deps
  const { resources, records } = ports
  const admitAnswer = createAnswerAdmission(deps, replacing)

  async function find(caller: Caller, { namespace, id }: ApprovalKey, verb: 'get' | 'update'): Promise<Approval> {
    // Of the namespace at first: without the right to any task there it is not even told what does not exist.
    const approval = await records.approvals.get(id)
    const name = approval?.namespace === namespace ? approval.taskName : undefined
    await requireAccess(ports, caller, { verb, kind: 'Task', namespace, ...(name !== undefined && { name }) })
    if (approval === undefined || name === undefined) {
      throw new SvcError('NotFound', `there is no approval "${id}" in namespace "${namespace}"`)
    }
    return approval
  }

  /** So that its controller looks, on whichever replica that is. */
  async function wake({ id, namespace, taskName: name, taskUid }: Approval): Promise<void> {
    await repeatOnConflict(async () => {
      const task = await resources.get('Task', { namespace, name })
      if (task?.metadata.uid !== taskUid) return
      const annotations = { ...task.metadata.annotations, [wakeAnnotation]: id }
      await resources.update('Task', { ...task, metadata: { ...task.metadata, annotations } })
    })
  }

  async function recordEvent(approval: Approval, who: string): Promise<void> {
    const { taskUid, namespace, taskName, tool, status, reason, scope } = approval
    const why = reason === undefined ? '' : `: ${redactText(reason)}`
    const attempt = (await resources.get('Task', { namespace, name: taskName }))?.status?.attempts ?? 0
    const what = [tool, ...readAskedHost(approval), ...(scope === undefined ? [] : [scope])].join(', ')
    const message = `${what} was ${status} by ${who}${why}`
    await records.events.append({ taskUid, attempt, namespace, taskName, type: 'ApprovalAnswered', message })
  }

  return {
    async list(caller, { namespace, ...query }) {
      const storedIn = async () => [
        ...new Set((await records.approvals.list({ limit: 500 })).map((one) => one.namespace)),
      ]
      const scope = await requireListing(ports, caller, 'Task', { namespace, storedIn })
      const namespaces = scope.namespace === undefined ? scope.namespaces : [scope.namespace]
      return records.approvals.list({ ...query, namespaces })
    },
    get: (caller, key) => find(caller, key, 'get'),
    async answer(caller, key, { reason, ...draft }) {
      const approval = await find(caller, key, 'update')
      const scope = await admitAnswer(caller, approval, draft)
      const by = identifyCaller(caller)
      const answered = await records.approvals.answer(approval.id, { status: draft.status, by, reason, scope })
      await recordEvent(answered, by.name)
      await wake(answered)
      return answered
    },
  }
}

/** An answer is for one question: a call that is named like an earlier one but asks something else is asked anew. */
function nameQuestion(call: string, { tool, arguments: args, message }: AskApproval): string {
  return createHash('sha256')
    .update(JSON.stringify([call, tool, args, message]))
    .digest('hex')
}

export function createWorkerApprovals({ ports }: UsecaseDeps): WorkerApprovals {
  const { resources, records, clock } = ports
  return {
    async askApproval(identity, path, { call, args }) {
      const task = await requireRunningTask(resources, identity, path)
      const { namespace, name, uid } = task.metadata
      const expiresAt = new Date(clock.now().getTime() + parseDuration(args.timeout))
      const approval = await records.approvals.ask({
        namespace,
        task: { uid, name },
        agentName: task.spec.agentRef?.name,
        call: nameQuestion(call, args),
        // What stands under this name is answered as the gate asks it.
        tool: args.tool === networkTool ? `tool ${networkTool}` : args.tool,
        arguments: args.arguments,
        message: redactText(args.message),
        expiresAt,
      })
      const { id, status, reason, answeredBy, expiresAt: until } = approval
      if (status !== 'pending') return { status, ...(reason && { reason }), ...(answeredBy && { by: answeredBy.name }) }
      // One that was asked before keeps the end that it was given then.
      if (until === expiresAt.toISOString()) {
        const message = `asks for approval ${id}: ${approval.message}`
        const { attempt } = identity
        await records.events.append({
          taskUid: uid,
          attempt,
          namespace,
          taskName: name,
          type: 'ApprovalRequested',
          message,
        })
      }
      return { status, wait: { kind: 'approval', call, id, until } }
    },
  }
}
