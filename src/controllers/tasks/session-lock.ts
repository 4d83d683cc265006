// The session of a task: claimed before the attempt starts, written to and released at the task's end.
import { readStructuredResult } from '../../contract/api/tasks/structured-result.ts'
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import { promptOf, type Task, type TaskUsage } from '../../contract/kinds/tasks/task.ts'
import { tryParseDuration } from '../../contract/values/duration.ts'
import { ignoring, SvcError } from '../../errors.ts'
import { readResultText } from '../../lookup/result-text.ts'
import type { SessionKey, Sessions } from '../../ports/chat/sessions.ts'
import { makeTranscriptWord, makeUsageWord, outcomeWord } from '../../rules/chat/transcripts.ts'
import { agentKeyOf, keyOfRequester, listSecretsInside } from '../../rules/tasks/acting.ts'
import { rankTask } from '../../rules/tasks/attention.ts'
import { attemptOf, type ReconcileContext } from './context.ts'
import { sessionTopic } from './state.ts'

const maxMessageLength = 262_144
const maxResultBytes = 10 * 1024 * 1024

/** What it said: the changes in a repository are no part of a conversation. */
function readAnswer(result: string): string {
  const { baseSHA, summary } = readStructuredResult(result)
  return (baseSHA === undefined ? result : summary).slice(0, maxMessageLength)
}

export function sessionOf(task: Task): SessionKey | undefined {
  const reference = task.spec.sessionRef
  return reference && { namespace: task.metadata.namespace, name: reference.name }
}

/**
 * Claims the task's session. False when another task holds it; InvalidRequest when it does not exist and must not be
 * created. Notes which Secrets the session is given with it.
 */
export async function lockSession(context: ReconcileContext, task: Task, agent: Agent | undefined): Promise<boolean> {
  const key = sessionOf(task)
  if (key === undefined) return true
  const { sessions } = context.records
  const create = task.spec.sessionRef?.create ?? false
  const session = await sessions.ensure(key, { create, sessionType: 'task' })
  if (session === undefined) {
    throw new SvcError(
      'InvalidRequest',
      `session "${key.name}" does not exist in namespace "${key.namespace}"; set spec.sessionRef.create to create it`,
    )
  }
  // Tasks that already wait for it come first, although they have not looked again yet.
  if (context.state.waiters.hasEarlier(sessionTopic(key), rankTask(task))) return false
  if (!(await sessions.lock(key, task.metadata.uid))) return false
  // Nobody was asked about what kubectl made, nor about Secrets that its agent was given since.
  const secrets = listSecretsInside(task, agent)
  if (secrets.length > 0) await sessions.join(key, { requester: keyOfRequester(task), secrets })
  return true
}

/** When the sessions of the agent's tasks expire; undefined: the usual retention. */
async function readExpiry({ resources, clock }: ReconcileContext, task: Task): Promise<Date | undefined> {
  const key = agentKeyOf(task)
  if (key === undefined) return undefined
  const ttl = tryParseDuration((await resources.get('Agent', key))?.spec.session?.ttl ?? '') ?? 0
  return ttl === 0 ? undefined : new Date(clock.now().getTime() + ttl)
}

/** Releases the session and wakes the task that is next in line for it. */
export async function unlockSession(context: ReconcileContext, task: Task): Promise<void> {
  const key = sessionOf(task)
  if (key === undefined) return
  await context.records.sessions.unlock(key, task.metadata.uid, { expiresAt: await readExpiry(context, task) })
  const next = context.state.waiters.next(sessionTopic(key))
  if (next !== undefined) context.enqueue(next)
}

function describePrompt(task: Task): string {
  if (task.spec.type !== 'container') return promptOf(task.spec)
  const words = [...(task.spec.command ?? []), ...(task.spec.args ?? [])]
  return words.length > 0 ? words.join(' ') : (task.spec.image ?? '')
}

/**
 * Adds prompt and outcome to the session, unless the worker has added its own account under the same key.
 */
export async function appendOutcome(context: ReconcileContext, task: Task, message: string): Promise<void> {
  const key = sessionOf(task)
  if (key === undefined || task.spec.sessionRef?.append === false) return
  const taskUid = task.metadata.uid
  // Of this attempt: an autonomous agent leaves a result in each iteration.
  const result = await readResultText(context.records.results, attemptOf(task), maxResultBytes)
  const messages = [
    { role: 'user' as const, content: describePrompt(task) },
    { role: 'assistant' as const, content: result === undefined ? message : readAnswer(result) },
  ]
  await appendUnlessGone(context, key, messages, { dedupe: makeTranscriptWord(taskUid, outcomeWord) })
}

/** Counts the usage of all attempts of the task in its session, whatever else the task adds there. */
export async function countInSession(
  context: ReconcileContext,
  task: Task,
  usage: TaskUsage | undefined,
): Promise<void> {
  const key = sessionOf(task)
  if (key === undefined || usage === undefined) return
  const { inputTokens, outputTokens } = usage
  const dedupe = makeUsageWord(task.metadata.uid)
  await appendUnlessGone(context, key, [], { dedupe, usage: { inputTokens, outputTokens } })
}

async function appendUnlessGone(
  { records }: ReconcileContext,
  ...append: Parameters<Sessions['append']>
): Promise<void> {
  // Where the session was deleted while the task ran there is nothing left to write to.
  await ignoring(records.sessions.append(...append), 'NotFound')
}
