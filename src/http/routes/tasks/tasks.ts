// Tasks as resources: create, list, get, delete, cancel, retry, children.
import { openTaskPullRequest } from '../../../contract/api/tasks/pull-requests.ts'
import * as routes from '../../../contract/api/tasks/tasks.ts'
import type { Task } from '../../../contract/kinds/tasks/task.ts'
import { SvcError } from '../../../errors.ts'
import { dropUndefined } from '../../../lib/json.ts'
import type { Plan } from '../../../ports/tasks/outputs.ts'
import type { NamespaceChoice } from '../../../usecases/index.ts'
import type { Bind } from '../../bind.ts'
import type { RouteContext } from '../../deps.ts'
import { tagOfVersion } from '../../middleware/conditional.ts'
import { answerTextPage, namedNamespace, viewPage } from '../../paging.ts'
import {
  answerObject,
  answerText,
  bindCreate,
  bindUpdate,
  createOnce,
  readPreconditions,
} from '../resources/resources.ts'

function refuseEverywhere(): SvcError {
  const message = 'is a task of one namespace; leave out allNamespaces'
  return new SvcError('InvalidRequest', `invalid request: parent ${message}`, {
    details: [{ path: 'parent', message }],
  })
}

function excerptPlan({ summary, progressPct, goalComplete, planDocument, iteration }: Plan) {
  return { summary, progressPct, goalComplete, planDocument, iteration }
}

function bindReads(bind: Bind, { usecases }: RouteContext): void {
  bind(routes.listTasks, async ({ caller, namespace, query }) => {
    const { parent, phase, type, agent, allNamespaces: _all, ...page } = query
    const rest = { ...page, fields: dropUndefined({ phase, type, agent }) } as Omit<NamespaceChoice, 'namespace'>
    if (parent !== undefined && namespace === '') throw refuseEverywhere()
    const found =
      parent === undefined
        ? await usecases.resources.listText(caller, 'Task', { ...rest, namespace: namedNamespace({ namespace }) })
        : await usecases.tasks.listChildren(caller, parent, { ...rest, namespace })
    return answerTextPage(viewPage('Task', found, query))
  })
  bind(routes.getTask, async ({ caller, key }) => {
    const task = await usecases.resources.getText(caller, 'Task', key)
    const plan = await usecases.tasks.planOf(task)
    if (plan === undefined) return answerText(task)
    // The part after the dot is not a version: If-Match uses what precedes it.
    const tag = tagOfVersion(`${task.resourceVersion}.${Date.parse(plan.updatedAt)}`)
    return { jsonText: `${task.text.slice(0, -1)},"plan":${JSON.stringify(excerptPlan(plan))}}`, tag }
  })
  bind(routes.listTaskChildren, async ({ caller, namespace, params, query }) => {
    const rest = { ...query, namespace } as NamespaceChoice & { namespace: string }
    return answerTextPage(await usecases.tasks.listChildren(caller, params.id, rest))
  })
}

function bindWrites(bind: Bind, context: RouteContext): void {
  const { usecases } = context
  bindCreate(bind, context, 'Task', routes.createTask)
  bindUpdate(bind, context, 'Task', routes.updateTask)
  bind.empty(routes.deleteTask, ({ caller, key, headers }) =>
    usecases.resources.remove(caller, 'Task', key, readPreconditions(headers)),
  )
  bind(routes.cancelTask, async ({ caller, key, body }) => {
    return answerObject(await usecases.tasks.cancel(caller, key, body.reason ?? ''))
  })
  bind.json(routes.runTask, ({ caller, key }) => usecases.tasks.run(caller, key))
  bind.json(openTaskPullRequest, ({ caller, key, body }) => usecases.tasks.openPullRequest(caller, key, body))
  bind(routes.retryTask, async (call) => {
    const { caller, namespace, params, body } = call
    const key = { namespace, name: params.id }
    const create = () => usecases.tasks.retry(caller, key, body.name)
    const check = (made: Task | undefined) => usecases.tasks.checkRetry(caller, key, made)
    const keyed = { ...call, body: { of: params.id, ...body } }
    return createOnce(context, routes.retryTask, keyed, { kind: 'Task', create, check })
  })
}

export function bindTasks(bind: Bind, context: RouteContext): void {
  bindReads(bind, context)
  bindWrites(bind, context)
}
