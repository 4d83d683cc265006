// Tasks of an orchestrator: created within its share, watched, read and cancelled.
import { normalizeTaskBody } from '../../../contract/api/tasks/task-body.ts'
import { isTerminalPhase, type Task } from '../../../contract/kinds/tasks/task.ts'
import { isSvcError, SvcError } from '../../../errors.ts'
import { createAlarm } from '../../../lib/alarm.ts'
import type { OrchestratedTask, Orchestration } from '../../../ports/coordination/coordination.ts'
import type { Caller } from '../../../ports/identity/identity.ts'
import type { ResourceKey } from '../../../ports/resources/resources.ts'
import { annotateTrace, traceparentIn } from '../../../rules/tasks/trace-context.ts'
import type { ResourceUsecases } from '../../resources/resources.ts'
import type { UsecaseDeps } from '../../service/deps.ts'
import type { TaskRecords } from '../../tasks/records.ts'
import type { TaskChanges } from '../../tasks/task-changes.ts'
import { locate, locateNamespace, type OrchestrationScope } from './scope.ts'

export type OrchestrationDeps = UsecaseDeps & {
  resources: ResourceUsecases
  tasks: Pick<TaskRecords, 'result'> &
    TaskChanges & {
      cancel(caller: OrchestrationScope['caller'], key: ResourceKey, reason: string): Promise<Task>
    }
}

export type TaskVerbs = Pick<
  Orchestration,
  'createTask' | 'getTask' | 'listQuestions' | 'readOutput' | 'waitForTask' | 'cancelTask' | 'listTasks'
> & {
  /** What was created, in order. */
  created: readonly ResourceKey[]
  /** As `createTask`, with the rights of another caller: a model may not name a Secret, its person may. */
  createAs(caller: Caller, request: OrchestratedTask): Promise<Task>
}

const nameAttempts = 5
/** Lists are sorted by name, so the newest tasks are found by reading the whole namespace, up to this many pages. */
const listPage = 500
const listPages = 40
const shownQuestions = 20
/** A character has at most four bytes in UTF-8. */
const maxCharacterBytes = 4

/** Creates tasks within the scope's share. */
function createTaskMaker(
  deps: OrchestrationDeps,
  scope: OrchestrationScope,
): Pick<TaskVerbs, 'createTask' | 'createAs' | 'created'> {
  const created: ResourceKey[] = []
  let reserved = 0

  async function create(caller: Caller, namespace: string, request: OrchestratedTask, attempt = 1): Promise<Task> {
    const { spec, step } = request
    const notes = { ...request.notes, ...annotateTrace(scope.trace && traceparentIn(scope.trace, 1, step)) }
    const body = normalizeTaskBody({ metadata: { name: scope.nameTask() }, spec })
    try {
      return await deps.resources.create(caller, 'Task', {
        ...body,
        namespace,
        marks: scope.labels,
        notes,
      })
    } catch (error) {
      if (!isSvcError(error, 'AlreadyExists') || attempt === nameAttempts) throw explainProblems(error)
      return create(caller, namespace, request, attempt + 1)
    }
  }

  async function createAs(caller: Caller, request: OrchestratedTask): Promise<Task> {
    const namespace = locateNamespace(scope, request.namespace)
    // Counted before it is created, because calls of one model answer run concurrently.
    if (reserved >= scope.maxTasks) throw refuseMore(scope.maxTasks)
    reserved += 1
    try {
      const task = await create(caller, namespace, request)
      created.push({ namespace, name: task.metadata.name })
      return task
    } catch (error) {
      reserved -= 1
      throw explainProblems(error)
    }
  }

  return { created, createAs, createTask: (request) => createAs(scope.caller, request) }
}

export function createTaskVerbs(deps: OrchestrationDeps, scope: OrchestrationScope): TaskVerbs {
  const { caller } = scope
  const { created, createTask, createAs } = createTaskMaker(deps, scope)

  async function getTask(key: ResourceKey): Promise<Task> {
    try {
      return await deps.resources.get(caller, 'Task', key)
    } catch (error) {
      if (!isSvcError(error, 'NotFound')) throw error
      const known = created.filter(({ namespace }) => namespace === key.namespace).map(({ name }) => name)
      const hint =
        known.length > 0 ? `; this conversation created: ${known.join(', ')}` : '; list_tasks shows all tasks'
      throw new SvcError('NotFound', `${error.message}${hint}`)
    }
  }

  return {
    created,
    createTask,
    createAs,
    getTask: async (named) => getTask(locate(scope, named)),
    async listQuestions({ metadata: { namespace, name, uid } }) {
      const query = { namespaces: [namespace], taskName: name, status: 'pending' as const, limit: shownQuestions }
      const pending = await deps.ports.records.approvals.list(query)
      return pending.filter(({ taskUid }) => taskUid === uid)
    },
    async readOutput(named, limit) {
      const key = locate(scope, named)
      try {
        const { info, open } = await deps.tasks.result(caller, key)
        return { text: await readHead(open(), limit), bytes: info.size }
      } catch (error) {
        if (isSvcError(error, 'NotFound')) return undefined
        throw error
      }
    },
    async waitForTask(named, timeoutMs, signal) {
      const key = locate(scope, named)
      const over = new AbortController()
      const alarm = createAlarm(AbortSignal.any([signal, over.signal]))
      const forget = deps.tasks.onChange(key, alarm.wake)
      let isLate = false
      const expire = () => {
        isLate = true
        alarm.wake()
      }
      deps.ports.clock.sleep(timeoutMs, over.signal).then(expire, () => undefined)
      try {
        for (;;) {
          const wasLate = isLate
          const task = await getTask(key)
          if (wasLate || isTerminalPhase(task.status?.phase)) return task
          await alarm.wait()
          signal.throwIfAborted()
        }
      } finally {
        forget()
        over.abort()
      }
    },
    async cancelTask(named) {
      const key = locate(scope, named)
      const task = await getTask(key)
      if (isTerminalPhase(task.status?.phase)) return task
      if (task.spec.schedule === undefined) return deps.tasks.cancel(caller, key, 'cancelled in chat')
      return deps.resources.remove(caller, 'Task', key)
    },
    async listTasks({ namespace, phase, limit }) {
      const query = { namespace: locateNamespace(scope, namespace), fields: phase && { phase } }
      return findNewest(limit, (next) => deps.resources.list(caller, 'Task', { ...query, ...next, limit: listPage }))
    },
  }
}

type ReadPage = (next: { continue?: string }) => Promise<{ items: Task[]; continue?: string }>

async function findNewest(limit: number, readPage: ReadPage): Promise<Task[]> {
  let newest: Task[] = []
  let next: { continue?: string } | undefined = {}
  for (let pages = 0; next !== undefined && pages < listPages; pages += 1) {
    const page: Awaited<ReturnType<ReadPage>> = await readPage(next)
    newest = [...newest, ...page.items].sort(compareAge).slice(0, limit)
    next = page.continue === undefined ? undefined : { continue: page.continue }
  }
  return newest
}

/**
 * Creation times are whole seconds; within one second, time-ordered uids (UUID version 7) decide if the store uses
 * them.
 */
function compareAge({ metadata: a }: Task, { metadata: b }: Task): number {
  if (a.creationTimestamp !== b.creationTimestamp) return a.creationTimestamp < b.creationTimestamp ? 1 : -1
  return a.uid < b.uid ? 1 : -1
}

function refuseMore(maxTasks: number): SvcError {
  return new SvcError(
    'TooManyRequests',
    `this turn has already created ${maxTasks} tasks, the most it may; create no more before the next message`,
  )
}

/** Models do not see error details, so the sentence lists all problems. */
export function explainProblems(error: unknown): unknown {
  if (!isSvcError(error) || (error.details?.length ?? 0) < 2) return error
  const all = error.details?.map(({ path, message }) => `${path} ${message}`).join('; ')
  return new SvcError(
    error.reason,
    `${error.message.replace(/ \(and (?:at least )?\d+ more; see details\)$/, '')}. All of it: ${all}`,
  )
}

/** The first characters of a text, without reading more than needed. */
async function readHead(stream: AsyncIterable<Buffer>, limit: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes >= limit * maxCharacterBytes) break
  }
  const text = new TextDecoder().decode(Buffer.concat(chunks).subarray(0, limit * maxCharacterBytes), { stream: true })
  return text.slice(0, limit)
}
