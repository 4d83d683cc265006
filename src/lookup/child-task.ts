// Context tokens of child tasks: exchanged by the service, kept in a Secret that belongs first to the parent, then to
// the child.
import type { Task } from '../contract/kinds/tasks/task.ts'
import { ignoring, isSvcError, SvcError } from '../errors.ts'
import type { Clock, Ids } from '../lib/clock.ts'
import { dropUndefined } from '../lib/json.ts'
import type { TokenExchange } from '../ports/identity/identity.ts'
import type { ResourceDraft, ResourceKey, Resources } from '../ports/resources/resources.ts'
import type { Secrets } from '../ports/resources/secrets.ts'
import {
  chooseChildScope,
  nameChildTokenSecret,
  type PropagationSettings,
  secretOwnerAnnotation,
  tokenSecretKey,
  transactionAnnotations,
} from '../rules/identity/token-propagation.ts'

type TaskToken = { token: string; key: ResourceKey; ownerUid: string }

/** Name of the Secret; undefined for a task without one. */
function nameTokenSecret({ metadata, spec }: Task): ResourceKey | undefined {
  const name = metadata.annotations?.[transactionAnnotations.tokenSecret]
  return name === undefined || spec.transaction === undefined ? undefined : { namespace: metadata.namespace, name }
}

/**
 * Undefined for a task that was given none. InvalidRequest when its Secret is missing or belongs to another task: the
 * annotation alone must not be able to send just any Secret with a tool call.
 */
export async function readTaskToken(secrets: Secrets, task: Task): Promise<TaskToken | undefined> {
  const key = nameTokenSecret(task)
  if (key === undefined) return undefined
  const [metadata, values] = await Promise.all([secrets.describe(key), secrets.read(key)])
  const ownerUid = metadata?.annotations[secretOwnerAnnotation]
  const token = values?.[tokenSecretKey]
  // It belongs to the parent until the child takes it over (reference 3.7).
  const owners = [task.metadata.uid, ...(task.metadata.ownerReferences ?? []).map(({ uid }) => uid)]
  if (token !== undefined && token !== '' && ownerUid !== undefined && owners.includes(ownerUid)) {
    return { token, key, ownerUid }
  }
  throw new SvcError(
    'InvalidRequest',
    `the transaction token of task "${task.metadata.name}" no longer exists; create the task again`,
  )
}

type TokenDeps = {
  resources: Resources
  secrets: Secrets
  /** Absent: context tokens are not exchanged. */
  tokenExchange?: TokenExchange | undefined
  settings: { propagation?: PropagationSettings | undefined }
  clock: Clock
  ids: Ids
}

const randomDigits = 10

async function exchangeForChild(deps: TokenDeps, parent: Task): Promise<string | undefined> {
  const { tokenExchange, settings, secrets } = deps
  const { transaction, agentRef } = parent.spec
  if (tokenExchange === undefined || settings.propagation === undefined || transaction === undefined) return undefined
  const choice = chooseChildScope(settings.propagation.childScope, transaction)
  if (choice.outcome === 'refused') throw new SvcError('Forbidden', choice.message)
  const subjectToken = (await readTaskToken(secrets, parent))?.token
  const { namespace, name } = parent.metadata
  const details = dropUndefined({
    operation: 'childTask',
    parentTask: name,
    namespace,
    agent: agentRef?.name,
    txn: transaction.id,
  })
  const ttlMs = settings.propagation.childTtlMs
  const subject = subjectToken === undefined ? {} : { subjectToken }
  return (await tokenExchange.exchange({ ...subject, scope: choice.scope, ttlMs, details })).token
}

/**
 * The Secret of a token for a child of the task; undefined without an exchange. Rejects with the errors of the
 * exchange.
 */
async function makeChildToken(deps: TokenDeps, parent: Task): Promise<ResourceKey | undefined> {
  const token = await exchangeForChild(deps, parent)
  if (token === undefined) return undefined
  const { namespace, name, uid } = parent.metadata
  const key = { namespace, name: nameChildTokenSecret(name, deps.clock.now(), deps.ids.hex(randomDigits)) }
  await deps.secrets.create({ ...key, stringData: { [tokenSecretKey]: token }, owner: { name, uid } })
  return key
}

type Child = ResourceDraft<'Task'>

function nameToken(child: Child, { name }: ResourceKey): Child {
  const annotations = { ...child.metadata.annotations, [transactionAnnotations.tokenSecret]: name }
  return { ...child, metadata: { ...child.metadata, annotations } }
}

/** If either the child or its token is missing, the other is removed too. */
async function undo(deps: TokenDeps, key: ResourceKey, child: Task | undefined): Promise<void> {
  await ignoring(deps.secrets.remove(key), 'NotFound', 'Conflict')
  if (child === undefined) return
  await ignoring(deps.resources.remove('Task', child.metadata, { uid: child.metadata.uid }), 'NotFound', 'Conflict')
}

/** Creates the child; `key` is the Secret of its token. */
async function createWithToken(deps: TokenDeps, draft: Child, key: ResourceKey): Promise<void> {
  let child: Task | undefined
  try {
    child = await deps.resources.create('Task', nameToken(draft, key))
    await deps.secrets.setOwner(key, child.metadata)
  } catch (error) {
    await undo(deps, key, child)
    throw error
  }
}

export type ChildOutcome = { made: true } | { made: false; message: string }

/**
 * Creates a child of the task, with its own token where tokens are exchanged; without a token that it should have, it
 * is not created. Unavailable when the exchange cannot be reached now; AlreadyExists.
 */
export async function createChild(deps: TokenDeps, parent: Task, draft: Child): Promise<ChildOutcome> {
  // No token is requested for a child that exists already.
  if ((await deps.resources.get('Task', draft.metadata)) !== undefined) return { made: true }
  let key: ResourceKey | undefined
  try {
    key = await makeChildToken(deps, parent)
  } catch (error) {
    if (!isSvcError(error) || error.reason === 'Unavailable' || error.reason === 'StorageFull') throw error
    return { made: false, message: error.message }
  }
  if (key === undefined) await deps.resources.create('Task', draft)
  else await createWithToken(deps, draft, key)
  return { made: true }
}

/** The task's own token, for what it starts; from then on its Secret is removed with the task. */
export async function takeTaskToken({ secrets }: Pick<TokenDeps, 'secrets'>, task: Task): Promise<string | undefined> {
  const found = await readTaskToken(secrets, task)
  if (found !== undefined && found.ownerUid !== task.metadata.uid) await secrets.setOwner(found.key, task.metadata)
  return found?.token
}

/** Removes the tokens of a deleted task: its own, and those of children that were never created. */
export async function removeTaskTokens({ secrets }: Pick<TokenDeps, 'secrets'>, task: Task): Promise<void> {
  // Only tasks with a transaction have such tokens.
  if (task.spec.transaction === undefined) return
  const { namespace, uid, ownerReferences = [] } = task.metadata
  await secrets.removeOwned(namespace, uid)
  const key = nameTokenSecret(task)
  const metadata = key && (await secrets.describe(key))
  const ownerUid = metadata?.annotations[secretOwnerAnnotation]
  const isOurs = ownerReferences.some((owner) => owner.uid === ownerUid) || ownerUid === uid
  if (metadata !== undefined && isOurs) await ignoring(secrets.remove(metadata), 'NotFound', 'Conflict')
}
