// The five routes of every kind, bound once, and those of agents and providers.
import * as agents from '../../../contract/api/agents/agents.ts'
import * as providers from '../../../contract/api/providers/providers.ts'
import type { CreateBody, UpdateBody } from '../../../contract/api/resources/resource-body.ts'
import type { Route } from '../../../contract/api/resources/route.ts'
import { type Kind, kinds, type ResourceOf } from '../../../contract/kinds/index.ts'
import { SvcError } from '../../../errors.ts'
import type { Caller } from '../../../ports/identity/identity.ts'
import type { DeletePreconditions, ResourceText } from '../../../ports/resources/resources.ts'
import { annotateTrace, markRetry, type NamespaceChoice } from '../../../usecases/index.ts'
import type { Answer } from '../../answer.ts'
import type { Bind, BindAnswer } from '../../bind.ts'
import type { Call } from '../../call.ts'
import type { RouteContext } from '../../deps.ts'
import { tagOfVersion, versionOfIfMatch } from '../../middleware/conditional.ts'
import { answerTextPage, type Numbered, namedNamespace, readNumbered, viewPage, wrapPage } from '../../paging.ts'

type UserRoute = Route & { auth: 'user' }

/** What the routes of a kind have in common, independent of their exact types. */
type AnyCall = {
  caller: Caller
  namespace: string
  /** Tasks are identified by `id`. */
  params: { name: string; id?: string }
  headers: { 'if-match'?: string | undefined; 'idempotency-key'?: string | undefined }
}

function read<R extends Route>(call: Call<R>): AnyCall {
  return call as unknown as AnyCall
}

/** Answers an object with its resourceVersion as the tag. */
export function answerObject<R extends ResourceOf<Kind>>(
  object: R,
): { json: R; tag: string; headers: { etag: string } } {
  const tag = tagOfVersion(object.metadata.resourceVersion)
  return { json: object, tag, headers: { etag: tag } }
}

/** The same for an object that is already serialized. */
export function answerText({ text, resourceVersion }: ResourceText): { jsonText: string; tag: string } {
  return { jsonText: text, tag: tagOfVersion(resourceVersion) }
}

/** Creates the object, once per Idempotency-Key if the call has one. */
export async function createOnce<K extends Kind>(
  { usecases }: RouteContext,
  route: Route,
  call: { caller: Caller; namespace: string; body: unknown; headers: { 'idempotency-key'?: string | undefined } },
  work: { kind: K; create: () => Promise<ResourceOf<K>>; check: (made: ResourceOf<K> | undefined) => Promise<void> },
): Promise<Answer<ResourceOf<K>>> {
  const key = call.headers['idempotency-key']
  if (key === undefined) return answerObject(await work.create())
  const { caller, namespace, body } = call
  const request = { caller, route: `${route.method} ${route.path}`, kind: work.kind, namespace, key, body }
  const { object, replayed } = await usecases.idempotency.run(request, work)
  const answer = answerObject(object)
  return { ...answer, headers: { ...answer.headers, ...(replayed ? { 'idempotency-replayed': 'true' } : {}) } }
}

/** The preconditions of a DELETE. */
export function readPreconditions(headers: { 'if-match'?: string | undefined }): DeletePreconditions {
  const resourceVersion = versionOfIfMatch(headers['if-match'])
  return resourceVersion === undefined ? {} : { resourceVersion }
}

function mergeVersion<K extends Kind>(kind: K, body: UpdateBody<K>, ifMatch: string | undefined): UpdateBody<K> {
  const version = versionOfIfMatch(ifMatch)
  if (version === undefined) return body
  const expected = body.metadata.resourceVersion
  if (expected !== undefined && expected !== version) {
    throw new SvcError('Conflict', `If-Match and metadata.resourceVersion of the ${kinds[kind].singular} differ`)
  }
  return { ...body, metadata: { ...body.metadata, resourceVersion: version } }
}

export function bindCreate(bind: BindAnswer, context: RouteContext, kind: Kind, route: UserRoute): void {
  const { usecases } = context
  bind(route, async (call) => {
    const { caller, namespace, headers } = read(call)
    const body = call.body as CreateBody<typeof kind>
    const { traceparent } = headers as { traceparent?: string }
    const { retryOf } = call.query as { retryOf?: string }
    const resource = { ...body, namespace, notes: annotateTrace(traceparent), ...markRetry(retryOf) }
    const create = () => usecases.resources.create(caller, kind, resource)
    const check = () => usecases.resources.checkCreate(caller, kind, resource)
    const keyed = retryOf === undefined ? body : { ...body, retryOf }
    return createOnce(context, route, { caller, namespace, headers, body: keyed }, { kind, create, check }) as never
  })
}

export function bindGet(bind: BindAnswer, { usecases }: RouteContext, kind: Kind, route: UserRoute): void {
  bind(route, async (call) => {
    const { caller, namespace, params } = read(call)
    return answerText(await usecases.resources.getText(caller, kind, { namespace, name: params.name }))
  })
}

function readListQuery(call: { query: unknown; namespace: string }): NamespaceChoice {
  return { ...(call.query as NamespaceChoice), namespace: namedNamespace(call) }
}

/** Binds a list of whole objects. */
export function bindWholeList(bind: BindAnswer, { usecases }: RouteContext, kind: Kind, route: UserRoute): void {
  bind(route, async (call) => {
    const page = await usecases.resources.listText(read(call).caller, kind, readListQuery(call))
    return answerTextPage(viewPage(kind, page, call.query as { view: 'full' | 'summary' }))
  })
}

/** Binds a list; `present` makes an entry of an object. */
export function bindList<K extends Kind>(
  bind: Bind,
  { usecases }: RouteContext,
  binding: { kind: K; route: UserRoute; present: (object: ResourceOf<K>) => unknown },
): void {
  bind(binding.route, async (call) => {
    const page = await usecases.resources.list(read(call).caller, binding.kind, readListQuery(call))
    return { json: wrapPage(page, binding.present) as never }
  })
}

export function bindUpdate(bind: BindAnswer, { usecases }: RouteContext, kind: Kind, route: UserRoute): void {
  bind(route, async (call) => {
    const { caller, namespace, params, headers } = read(call)
    const body = mergeVersion(kind, call.body as UpdateBody<typeof kind>, headers['if-match'])
    const key = { namespace, name: params.id ?? params.name }
    return answerObject(await usecases.resources.replace(caller, kind, key, body)) as never
  })
}

export function bindDelete(bind: BindAnswer, { usecases }: RouteContext, kind: Kind, route: UserRoute): void {
  bind(route, async (call) => {
    const { caller, namespace, params, headers } = read(call)
    await usecases.resources.remove(caller, kind, { namespace, name: params.name }, readPreconditions(headers))
    return { empty: true }
  })
}

const byNumber: Numbered<agents.AgentVersion> = { cursor: 'agent-version', numberOf: ({ number }) => number }

export function bindAgents(bind: Bind, context: RouteContext): void {
  bindCreate(bind, context, 'Agent', agents.createAgent)
  bindWholeList(bind, context, 'Agent', agents.listAgents)
  bindGet(bind, context, 'Agent', agents.getAgent)
  bindUpdate(bind, context, 'Agent', agents.updateAgent)
  bindDelete(bind, context, 'Agent', agents.deleteAgent)
  bind(agents.listAgentVersions, async ({ caller, key, query }) => {
    const page = await readNumbered(byNumber, query, (range) =>
      context.usecases.resources.agentVersions(caller, key, range),
    )
    return { json: wrapPage(page, (version) => version) }
  })
}

export function bindProviders(bind: Bind, context: RouteContext): void {
  bindCreate(bind, context, 'Provider', providers.createProvider)
  bindWholeList(bind, context, 'Provider', providers.listProviders)
  bindGet(bind, context, 'Provider', providers.getProvider)
  bindUpdate(bind, context, 'Provider', providers.updateProvider)
  bindDelete(bind, context, 'Provider', providers.deleteProvider)
  bind.json(providers.testProvider, ({ caller, key }) => context.proxies.testProvider(caller, key))
  bind(providers.listPrices, async ({ caller, key, query }) => {
    const items = await context.usecases.prices.list(caller, key, query.model)
    return { json: { items, metadata: {} } }
  })
}
