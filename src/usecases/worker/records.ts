// What a running attempt hands in and reads back: result, artifacts, logs, plan, checkpoint, transcript, messages.
import type { Readable } from 'node:stream'
import type { MessageSend, PlanSave, TranscriptAppend } from '../../contract/api/internal.ts'
import type { Task } from '../../contract/resources/task.ts'
import { SvcError } from '../../errors.ts'
import type { ArtifactInfo } from '../../ports/artifacts.ts'
import type { WorkerIdentity } from '../../ports/identity.ts'
import type { Message } from '../../ports/messages.ts'
import type { Plan, Plans } from '../../ports/plans.ts'
import type { ResultInfo } from '../../ports/results.ts'
import type { StoredMessage } from '../../ports/sessions.ts'
import type { AttemptKey } from '../../ports/workloads.ts'
import { parentOf } from '../../rules/scheduled-run.ts'
import type { UsecaseDeps } from '../deps.ts'
import { requireLiveAttempt, requireOwnNamespace, requireOwnTask } from './live-attempt.ts'
import { cutLines } from './log-lines.ts'

type TaskPath = { namespace: string; taskName: string }
type Upload = { body: Readable; contentType: string }

/** Every call is Forbidden for another task than the token's own, and for an attempt that is not the one that runs now. */
export type WorkerRecords = {
  /** TooLarge, InvalidRequest when empty. */
  submitResult(identity: WorkerIdentity, path: TaskPath, upload: Upload): Promise<ResultInfo>
  uploadArtifact(identity: WorkerIdentity, path: TaskPath & { filename: string }, upload: Upload): Promise<ArtifactInfo>
  /** Appends lines as they come, until the body ends. */
  appendLogs(identity: WorkerIdentity, path: TaskPath, body: AsyncIterable<Uint8Array>): Promise<void>
  /** NotConfigured without a plan store. */
  savePlan(identity: WorkerIdentity, path: TaskPath, plan: PlanSave): Promise<Plan>
  readPlan(identity: WorkerIdentity, path: TaskPath): Promise<Plan>
  saveCheckpoint(identity: WorkerIdentity, path: TaskPath, state: string): Promise<void>
  /** NotFound when none was saved. */
  readCheckpoint(identity: WorkerIdentity, path: TaskPath): Promise<string>
  /** The newest messages of the task's own session; none when there is no such session yet. */
  readTranscript(
    identity: WorkerIdentity,
    path: { namespace: string; name: string },
    maxMessages: number | undefined,
  ): Promise<StoredMessage[]>
  /** NotFound when the task has no session. */
  appendTranscript(identity: WorkerIdentity, path: TaskPath, append: TranscriptAppend): Promise<void>
  /** Forbidden in the name of another task, and to children of another parent. */
  sendMessage(identity: WorkerIdentity, namespace: string, message: MessageSend): Promise<Message>
  readMessages(
    identity: WorkerIdentity,
    path: TaskPath,
    query: { parentTask: string; markRead: boolean },
  ): Promise<Message[]>
}

function keyOf({ taskUid, attempt }: WorkerIdentity): AttemptKey {
  return { taskUid, attempt }
}

/** A task talks under its own parent, or as the parent itself to its children (MSG-006). */
function requireFamily(task: Task, parentTask: string): void {
  if (parentTask === parentOf(task) || parentTask === task.metadata.name) return
  throw new SvcError('Forbidden', `task "${task.metadata.name}" is not under parent "${parentTask}"`)
}

function requirePlans(plans: Plans | undefined): Plans {
  if (plans !== undefined) return plans
  throw new SvcError('NotConfigured', 'plan store not configured')
}

export function createWorkerRecords({ ports }: UsecaseDeps): WorkerRecords {
  const { records, resources } = ports

  async function admit(identity: WorkerIdentity, path: TaskPath): Promise<Task> {
    requireOwnTask(identity, path)
    return requireLiveAttempt(resources, identity)
  }

  return {
    async submitResult(identity, path, { body, contentType }) {
      await admit(identity, path)
      return records.results.put(keyOf(identity), body, contentType)
    },
    async uploadArtifact(identity, path, upload) {
      await admit(identity, path)
      return records.artifacts.put(keyOf(identity), { ...upload, filename: path.filename })
    },
    async appendLogs(identity, path, body) {
      await admit(identity, path)
      for await (const lines of cutLines(body)) {
        await requireLiveAttempt(resources, identity)
        await records.logs.append(keyOf(identity), lines)
      }
    },
    async savePlan(identity, path, plan) {
      const task = await admit(identity, path)
      return requirePlans(records.plans).save({
        taskUid: identity.taskUid,
        namespace: identity.namespace,
        taskName: identity.taskName,
        iteration: task.status?.iteration ?? 0,
        summary: plan.summary,
        progressPct: plan.progress_pct,
        goalComplete: plan.goal_complete,
        planDocument: plan.plan_document,
      })
    },
    async readPlan(identity, path) {
      await admit(identity, path)
      const plan = await requirePlans(records.plans).get(identity.taskUid)
      if (plan === undefined) throw new SvcError('NotFound', 'plan not found')
      return plan
    },
    async saveCheckpoint(identity, path, state) {
      await admit(identity, path)
      await records.checkpoints.save(keyOf(identity), state)
    },
    async readCheckpoint(identity, path) {
      await admit(identity, path)
      const saved = await records.checkpoints.load(identity.taskUid)
      if (saved === undefined) throw new SvcError('NotFound', 'no checkpoint was saved for this task')
      return saved.state
    },
    async readTranscript(identity, { namespace, name }, maxMessages) {
      requireOwnNamespace(identity, namespace)
      const { sessionRef } = (await requireLiveAttempt(resources, identity)).spec
      if (sessionRef?.name !== name) {
        throw new SvcError('Forbidden', `session "${name}" is not that of task "${identity.taskName}"`)
      }
      if ((await records.sessions.get({ namespace, name })) === undefined) return []
      return records.sessions.transcript({ namespace, name }, { limit: maxMessages ?? sessionRef.maxMessages })
    },
    async appendTranscript(identity, path, { messages, dedupe }) {
      const task = await admit(identity, path)
      const name = task.spec.sessionRef?.name
      if (name === undefined) throw new SvcError('NotFound', `task "${path.taskName}" has no session`)
      const key = { namespace: path.namespace, name }
      // The word is the task's own: two tasks that use the same one do not hide each other's messages.
      const options = dedupe === undefined ? {} : { dedupe: `${identity.taskUid}:${dedupe}` }
      await records.sessions.append(key, messages, options)
    },
    async sendMessage(identity, namespace, message) {
      requireOwnTask(identity, { namespace, taskName: message.fromTask })
      requireFamily(await requireLiveAttempt(resources, identity), message.parentTask)
      return records.messages.send({ namespace, ...message })
    },
    async readMessages(identity, path, { parentTask, markRead }) {
      requireFamily(await admit(identity, path), parentTask)
      const { namespace, taskName: reader } = path
      return records.messages.unread({ namespace, reader, parentTask, markRead })
    },
  }
}
