// Messages of a running attempt: the transcript of its session, and messages to and from related tasks.
import type { MessageSend, TranscriptAppend } from '../../../contract/api/tasks/internal.ts'
import type { AgentMessage } from '../../../contract/api/tasks/task-records.ts'
import type { Task } from '../../../contract/kinds/tasks/task.ts'
import { SvcError } from '../../../errors.ts'
import type { StoredMessage } from '../../../ports/chat/sessions.ts'
import { type Correspondent, type Messages, messagesOfTask } from '../../../ports/coordination/coordination.ts'
import type { WorkerIdentity } from '../../../ports/identity/identity.ts'
import type { ResourceReader } from '../../../ports/resources/resources.ts'
import { makeTranscriptWord } from '../../../rules/chat/transcripts.ts'
import { isChildOf, parentOf } from '../../../rules/tasks/stamp.ts'
import type { UsecaseDeps } from '../../service/deps.ts'
import {
  requireLiveAttempt,
  requireOwnNamespace,
  requireOwnTask,
  requireRunningTask,
  type TaskPath,
} from './live-attempt.ts'

/** Without `parentTask`: messages from siblings and from children. */
type MessageQuery = { parentTask?: string | undefined; markRead: boolean; upTo?: number | undefined }

/** Every call throws Forbidden for a task other than the token's own, and for an attempt that is not the live one. */
export type WorkerConversation = {
  /** The newest messages of the task's own session; none while the session does not exist. */
  readTranscript(
    identity: WorkerIdentity,
    path: { namespace: string; name: string },
    maxMessages: number | undefined,
  ): Promise<StoredMessage[]>
  /** NotFound when the task has no session. */
  appendTranscript(identity: WorkerIdentity, path: TaskPath, append: TranscriptAppend): Promise<void>
  /**
   * Forbidden in the name of another task, under another parent, and beyond `messagesOfTask`; NotFound for a receiver that is not under that
   * parent.
   */
  sendMessage(
    identity: WorkerIdentity,
    namespace: string,
    /** Without `parentTask`: below the sender where it is for one of its children, else below its own parent. */
    message: Omit<MessageSend, 'parentTask'> & { parentTask?: string },
  ): Promise<AgentMessage>
  /** The oldest unread ones, as far as a model can take them at once; the others the next time. */
  readMessages(identity: WorkerIdentity, path: TaskPath, query: MessageQuery): Promise<AgentMessage[]>
}

/** A task talks under its own parent, or as the parent itself to its children (MSG-006). */
function requireFamily({ metadata }: Task, parentTask: string): Correspondent {
  const { uid, name } = metadata
  const parent = [parentOf({ metadata }), { uid, name }].find((member) => member?.name === parentTask)
  if (parent !== undefined) return parent
  throw new SvcError('Forbidden', `task "${name}" is not under parent "${parentTask}"`)
}

/** Under which parents a task talks: its own, and as the parent itself. */
function listFamilies({ metadata }: Task): Correspondent[] {
  const parent = parentOf({ metadata })
  const own = { uid: metadata.uid, name: metadata.name }
  return parent === undefined ? [own] : [parent, own]
}

/** The coordinator or one of its current children. NotFound for any other task of that name. */
async function findReceiver(
  resources: ResourceReader,
  { namespace, toTask }: { namespace: string; toTask: string },
  parent: Correspondent,
): Promise<Correspondent | '*'> {
  if (toTask === '*') return '*'
  if (toTask === parent.name) return parent
  const task = await resources.get('Task', { namespace, name: toTask })
  if (task !== undefined && isChildOf(task, parent)) return { uid: task.metadata.uid, name: toTask }
  throw new SvcError('NotFound', `there is no task "${toTask}" under parent "${parent.name}"`)
}

/** Where a message belongs that names no parent: below the sender when it is for one of its children. */
async function chooseFamily(resources: ResourceReader, { metadata }: Task, toTask: string): Promise<Correspondent> {
  const { namespace, uid, name } = metadata
  const first = parentOf({ metadata }) ?? { uid, name }
  if (toTask === '*' || toTask === first.name) return first
  const task = await resources.get('Task', { namespace, name: toTask })
  return task !== undefined && isChildOf(task, { uid, name }) ? { uid, name } : first
}

async function requireFewMessages(messages: Messages, { taskUid, taskName }: WorkerIdentity): Promise<void> {
  if ((await messages.countSent(taskUid)) < messagesOfTask) return
  const words = `task "${taskName}" has sent ${messagesOfTask} messages, the most it may; put the rest into its result`
  throw new SvcError('Forbidden', words)
}

/** A model reads them all in one turn. */
const charactersAtOnce = 131_072

function takeOldest(messages: readonly AgentMessage[]): AgentMessage[] {
  const taken: AgentMessage[] = []
  let room = charactersAtOnce
  for (const message of messages) {
    room -= message.content.length
    if (room < 0 && taken.length > 0) break
    taken.push(message)
  }
  return taken
}

export function createWorkerConversation({ ports }: UsecaseDeps): WorkerConversation {
  const { records, resources } = ports
  return {
    async readTranscript(identity, { namespace, name }, maxMessages) {
      requireOwnNamespace(identity, namespace)
      const { sessionRef } = (await requireLiveAttempt(resources, identity)).spec
      if (sessionRef?.name !== name) {
        throw new SvcError('Forbidden', `session "${name}" does not belong to task "${identity.taskName}"`)
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
      const task = await requireLiveAttempt(resources, identity)
      const parent =
        message.parentTask === undefined
          ? await chooseFamily(resources, task, message.toTask)
          : requireFamily(task, message.parentTask)
      await requireFewMessages(records.messages, identity)
      const from = { uid: identity.taskUid, name: identity.taskName }
      const to = await findReceiver(resources, { namespace, toTask: message.toTask }, parent)
      return records.messages.send({ namespace, from, to, parent, content: message.content })
    },
    async readMessages(identity, path, { parentTask, markRead, upTo }) {
      const task = await requireRunningTask(resources, identity, path)
      const families = parentTask === undefined ? listFamilies(task) : [requireFamily(task, parentTask)]
      const reader = { uid: identity.taskUid, name: identity.taskName }
      const read = async (query: Pick<MessageQuery, 'markRead' | 'upTo'>) => {
        const reading = { namespace: path.namespace, reader }
        const found = families.map((parent) => records.messages.unread({ ...reading, parent, ...query }))
        return (await Promise.all(found)).flat().sort((a, b) => a.id - b.id)
      }
      const oldest = takeOldest(await read({ markRead: false, upTo }))
      const last = oldest.at(-1)
      return markRead && last !== undefined ? read({ markRead, upTo: last.id }) : oldest
    },
  }
}
