// What a running attempt says and hears: the transcript of its session, messages with its family.
import type { MessageSend, TranscriptAppend } from '../../contract/api/internal.ts'
import type { Task } from '../../contract/resources/task.ts'
import { SvcError } from '../../errors.ts'
import type { WorkerIdentity } from '../../ports/identity.ts'
import type { Message } from '../../ports/messages.ts'
import type { StoredMessage } from '../../ports/sessions.ts'
import { parentOf } from '../../rules/scheduled-run.ts'
import { makeTranscriptWord } from '../../rules/transcript-word.ts'
import type { UsecaseDeps } from '../deps.ts'
import {
  requireLiveAttempt,
  requireOwnNamespace,
  requireOwnTask,
  requireRunningTask,
  type TaskPath,
} from './live-attempt.ts'

/** Every call is Forbidden for another task than the token's own, and for an attempt that is not the one that runs now. */
export type WorkerConversation = {
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

/** A task talks under its own parent, or as the parent itself to its children (MSG-006). */
function requireFamily(task: Task, parentTask: string): void {
  if (parentTask === parentOf(task) || parentTask === task.metadata.name) return
  throw new SvcError('Forbidden', `task "${task.metadata.name}" is not under parent "${parentTask}"`)
}

export function createWorkerConversation({ ports }: UsecaseDeps): WorkerConversation {
  const { records, resources } = ports
  return {
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
      const task = await requireRunningTask(resources, identity, path)
      const name = task.spec.sessionRef?.name
      if (name === undefined) throw new SvcError('NotFound', `task "${path.taskName}" has no session`)
      const key = { namespace: path.namespace, name }
      const options = dedupe === undefined ? {} : { dedupe: makeTranscriptWord(identity.taskUid, dedupe) }
      await records.sessions.append(key, messages, options)
    },
    async sendMessage(identity, namespace, message) {
      requireOwnTask(identity, { namespace, taskName: message.fromTask })
      requireFamily(await requireLiveAttempt(resources, identity), message.parentTask)
      return records.messages.send({ namespace, ...message })
    },
    async readMessages(identity, path, { parentTask, markRead }) {
      requireFamily(await requireRunningTask(resources, identity, path), parentTask)
      const { namespace, taskName: reader } = path
      return records.messages.unread({ namespace, reader, parentTask, markRead })
    },
  }
}
