// Create, read, list, replace and remove for every kind: rights, admission, limits, preconditions.
import type { AgentVersion } from '../../contract/api/agents/agents.ts'
import type { AccessVerb } from '../../contract/api/identity/access.ts'
import type { CreateBody, UpdateBody } from '../../contract/api/resources/resource-body.ts'
import { type Kind, kinds, type ResourceOf, type SpecOf } from '../../contract/kinds/index.ts'
import { findReferences } from '../../contract/schema/reference-paths.ts'
import { refuse } from '../../contract/schema/validation.ts'
import { isSvcError, type Problem, SvcError } from '../../errors.ts'
import { dropUndefined } from '../../lib/json.ts'
import { createKeyedQueue } from '../../lib/keyed-queue.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type {
  DeletePreconditions,
  ResourceDraft,
  ResourceKey,
  ResourcePage,
  ResourceText,
} from '../../ports/resources/resources.ts'
import { hasRight, keepAllowed, requireAccess, requireRight, seesSome } from '../identity/access.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { admit } from './admission/admission.ts'
import { pickReserved, requireOwnKeys } from './admission/keys.ts'
import { type Admitted, orUndo } from './admission/request.ts'
import { listAllowed, type NamespaceChoice, notFound, queryFor } from './listing.ts'
import { repeatOnConflict } from './write-conflict.ts'

/** The most bytes of one resource (HTTP-032). */
const maxResourceBytes = 1_048_576

type Annotations = Record<string, string>

/**
 * `marks` and `notes`: labels and annotations of the service's own domain that the service adds, for example which chat
 * created the object.
 */
export type NewResource<K extends Kind> = CreateBody<K> & {
  namespace: string
  marks?: Record<string, string>
  notes?: Record<string, string>
}

export type ResourceUsecases = {
  /** AlreadyExists, TooLarge, Forbidden, and the errors of admission. */
  create<K extends Kind>(caller: Caller, kind: K, body: NewResource<K>): Promise<ResourceOf<K>>
  /** Refuses what `create` would refuse, except a name that is taken; stores nothing. */
  checkCreate<K extends Kind>(caller: Caller, kind: K, body: NewResource<K>): Promise<void>
  /** NotFound. */
  get<K extends Kind>(caller: Caller, kind: K, key: ResourceKey): Promise<ResourceOf<K>>
  /**
   * Only what the caller may see; so a page can have fewer than `limit` entries, or none, although more pages follow.
   */
  list<K extends Kind>(caller: Caller, kind: K, query: NamespaceChoice): Promise<ResourcePage<ResourceOf<K>>>
  /** The result of `get` as JSON. NotFound. */
  getText(caller: Caller, kind: Kind, key: ResourceKey): Promise<ResourceText>
  /** The result of `list`, each object as JSON. */
  listText(caller: Caller, kind: Kind, query: NamespaceChoice): Promise<ResourcePage<ResourceText>>
  /** Replaces the spec, and labels and annotations when given. Conflict when a precondition fails. */
  replace<K extends Kind>(caller: Caller, kind: K, key: ResourceKey, body: UpdateBody<K>): Promise<ResourceOf<K>>
  /** NotFound; Conflict when a precondition fails. */
  remove<K extends Kind>(
    caller: Caller,
    kind: K,
    key: ResourceKey,
    preconditions?: DeletePreconditions,
  ): Promise<ResourceOf<K>>
  /** Of an agent, newest first, without what of a ConfigMap the caller may not read. NotFound. */
  agentVersions(caller: Caller, key: ResourceKey, page: NumberedPage): Promise<AgentVersion[]>
}

export type NumberedPage = { limit: number; before?: number | undefined }

function checkSize(kind: Kind, object: unknown): void {
  const bytes = Buffer.byteLength(JSON.stringify(object))
  if (bytes <= maxResourceBytes) return
  const message = `the ${kinds[kind].singular} has ${bytes} bytes, more than the ${maxResourceBytes} of one resource`
  throw new SvcError('TooLarge', `${message}; put large text into files or artifacts`)
}

function mergeAnnotations(base: Annotations | undefined, admitted: Admitted): Annotations | undefined {
  const merged = dropUndefined({ ...base, ...admitted.annotations }) as Annotations
  return Object.keys(merged).length === 0 ? undefined : merged
}

function mergeLabels(...maps: (Annotations | undefined)[]): Annotations | undefined {
  const merged = Object.assign({}, ...maps)
  return Object.keys(merged).length === 0 ? maps[0] : merged
}

function stampSpec<S extends object>(spec: S, admitted: Admitted): S {
  return admitted.spec === undefined ? spec : (dropUndefined({ ...spec, ...admitted.spec }) as S)
}

function checkUid(kind: Kind, before: ResourceOf<Kind>, uid: string | undefined): void {
  if (uid === undefined || uid === before.metadata.uid) return
  throw new SvcError('Conflict', `the ${kinds[kind].singular} was deleted and made again; read it and try again`)
}

type Change<K extends Kind> = { kind: K; verb: AccessVerb } & ResourceKey

/**
 * An object that names a Secret may need a higher role than its kind; it is only read for callers whom that affects.
 */
async function requireManaging<K extends Kind>(
  caller: Caller,
  change: Change<K>,
  read: () => Promise<ResourceOf<K>>,
): Promise<void> {
  const access = { ...change, namesSecret: true }
  if (hasRight(caller, access)) return
  const { spec } = await read()
  const references = findReferences(change.kind, spec as SpecOf<K>)
  if (references.some(({ kind }) => kind === 'Secret')) requireRight(caller, access)
}

function checkNaming(key: ResourceKey, body: UpdateBody<Kind>): void {
  const problems: Problem[] = []
  const { name, namespace } = body.metadata
  if (name !== undefined && name !== key.name) {
    problems.push({ path: 'metadata.name', message: `must be "${key.name}", the name in the path` })
  }
  if (namespace !== undefined && namespace !== key.namespace) {
    problems.push({ path: 'metadata.namespace', message: `must be "${key.namespace}", the namespace of the request` })
  }
  refuse('body', problems)
}

function buildUpdate<K extends Kind>(before: ResourceOf<K>, body: UpdateBody<K>, admitted: Admitted): ResourceOf<K> {
  const wanted = body.metadata
  const { labels: marks, annotations: notes } = before.metadata
  const annotations = wanted.annotations === undefined ? notes : { ...wanted.annotations, ...pickReserved(notes) }
  const metadata = {
    ...before.metadata,
    labels: mergeLabels(wanted.labels ?? marks, pickReserved(marks)),
    annotations: mergeAnnotations(annotations, admitted),
    resourceVersion: wanted.resourceVersion ?? before.metadata.resourceVersion,
  }
  return { ...before, metadata: dropUndefined(metadata), spec: stampSpec(body.spec, admitted) }
}

function writePage({ items, ...page }: ResourcePage<ResourceOf<Kind>>): ResourcePage<ResourceText> {
  const write = (object: ResourceOf<Kind>) => ({
    text: JSON.stringify(object),
    resourceVersion: object.metadata.resourceVersion,
  })
  return { ...page, items: items.map(write) }
}

async function readAgentVersions(
  { ports }: UsecaseDeps,
  caller: Caller,
  { namespace, name, ...page }: ResourceKey & NumberedPage,
): Promise<AgentVersion[]> {
  await requireAccess(ports, caller, { verb: 'get', kind: 'Agent', namespace, name })
  const agent = await ports.resources.get('Agent', { namespace, name })
  if (agent === undefined) throw await notFound(ports, caller, 'Agent', { namespace, name })
  const versions = await ports.records.agentVersions.list(agent.metadata, page)
  const maps = new Set(versions.flatMap(({ content }) => content.promptFrom?.name ?? []))
  const read = (map: string) => ({ verb: 'get', kind: 'ConfigMap', namespace, name: map }) as const
  const readable = await keepAllowed(ports, caller, { of: [...maps], read })
  return versions.map(({ content: { prompt, ...content }, ...version }) => {
    const isShown = content.promptFrom === undefined || readable.includes(content.promptFrom.name)
    return { ...version, content: dropUndefined({ ...(isShown && { prompt }), ...content }) }
  })
}

export function createResourceUsecases(deps: UsecaseDeps): ResourceUsecases {
  const { resources } = deps.ports
  const joining = createKeyedQueue()

  /** Who joins a session is judged by the tasks that are in it: of two at once, the second by the first. */
  function joinInTurn<T>(kind: Kind, namespace: string, spec: unknown, write: () => Promise<T>): Promise<T> {
    const session = kind === 'Task' ? (spec as SpecOf<'Task'>).sessionRef?.name : undefined
    return session === undefined ? write() : joining.run(`${namespace}/${session}`, write)
  }

  async function getOrThrow<K extends Kind>(caller: Caller, kind: K, key: ResourceKey): Promise<ResourceOf<K>> {
    const object = await resources.get(kind, key)
    if (object === undefined) throw await notFound(deps.ports, caller, kind, key)
    return object
  }

  async function replaceOnce<K extends Kind>(caller: Caller, kind: K, key: ResourceKey, body: UpdateBody<K>) {
    const before = await getOrThrow(caller, kind, key)
    await requireManaging(caller, { verb: 'update', kind, ...key }, async () => before)
    checkUid(kind, before, body.metadata.uid)
    requireOwnKeys(kinds[kind].singular, body.metadata, before.metadata)
    const admitted = await admit(kind, { caller, ...key, spec: body.spec, before }, deps)
    return orUndo(admitted.undo, async () => {
      const object = buildUpdate(before, body, admitted)
      checkSize(kind, { metadata: object.metadata, spec: object.spec })
      return resources.update(kind, object)
    })
  }

  async function admitNew<K extends Kind>(caller: Caller, kind: K, body: NewResource<K>) {
    const { metadata: wanted, namespace, spec, marks, notes } = body
    const { name, labels, annotations } = wanted
    await requireAccess(deps.ports, caller, { verb: 'create', kind, namespace, name })
    requireOwnKeys(kinds[kind].singular, wanted)
    const admitted = await admit(kind, { caller, namespace, name, spec }, deps)
    const stamped = {
      labels: mergeLabels(labels, marks, admitted.labels),
      annotations: mergeAnnotations({ ...annotations, ...notes }, admitted),
    }
    const metadata = dropUndefined({ namespace, name, ...stamped, finalizers: admitted.finalizers })
    const draft = { metadata, spec: stampSpec(spec, admitted) }
    await orUndo(admitted.undo, async () => checkSize(kind, draft))
    return { draft: draft as unknown as ResourceDraft<K>, undo: admitted.undo }
  }

  return {
    create: (caller, kind, body) =>
      joinInTurn(kind, body.namespace, body.spec, async () => {
        const { draft, undo } = await admitNew(caller, kind, body)
        return orUndo(undo, () => resources.create(kind, draft))
      }),
    checkCreate: async (caller, kind, body) => void (await (await admitNew(caller, kind, body)).undo?.()),
    async get(caller, kind, key) {
      await requireAccess(deps.ports, caller, { verb: 'get', kind, ...key })
      return getOrThrow(caller, kind, key)
    },
    list: (caller, kind, query) => listAllowed(deps.ports, caller, kind, query),
    async getText(caller, kind, key) {
      await requireAccess(deps.ports, caller, { verb: 'get', kind, ...key })
      const found = await resources.getText(kind, key)
      if (found === undefined) throw await notFound(deps.ports, caller, kind, key)
      return found
    },
    async listText(caller, kind, query) {
      if (seesSome(caller, kind)) return writePage(await listAllowed(deps.ports, caller, kind, query))
      return resources.listText(kind, await queryFor(deps.ports, caller, kind, query))
    },
    async replace(caller, kind, key, body) {
      await requireAccess(deps.ports, caller, { verb: 'update', kind, ...key })
      checkNaming(key, body)
      const { resourceVersion, uid } = body.metadata
      const write = () => joinInTurn(kind, key.namespace, body.spec, () => replaceOnce(caller, kind, key, body))
      // Without a precondition the newest version is meant, so a concurrent write is no reason to refuse.
      return resourceVersion === undefined && uid === undefined ? repeatOnConflict(write) : write()
    },
    async remove(caller, kind, key, preconditions) {
      const access = { verb: 'delete', kind, ...key } as const
      await requireAccess(deps.ports, caller, access)
      await requireManaging(caller, access, () => getOrThrow(caller, kind, key))
      try {
        return await resources.remove(kind, key, preconditions)
      } catch (error) {
        throw isSvcError(error, 'NotFound') ? await notFound(deps.ports, caller, kind, key) : error
      }
    },
    agentVersions: (caller, key, page) => readAgentVersions(deps, caller, { ...key, ...page }),
  }
}
