// Claims of sandboxes and the sandboxes themselves: made, waited for, listed, resumed, suspended and deleted. A claim
// says little more than that its pod is not ready, so the pod is asked why.
import { orAbsent, unlessExists } from '../../cluster/api/failures.ts'
import { listScopes } from '../../cluster/api/paths.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import {
  type ListedWorkspace,
  type WorkspaceClaim,
  WorkspaceError,
} from '../../ports/workspaces/execution-workspaces.ts'
import { type Pod, pods } from '../jobs/objects.ts'
import { explainClusterFault } from './faults.ts'
import {
  claimComponent,
  claimLabels,
  findLastingFolder,
  findReadySandbox,
  isSuspended,
  isSuspendedClaim,
  judgeClaim,
  podNameAnnotation,
  readClaim,
  type SandboxClaim,
  type SandboxObject,
  setRunning,
  templateAnnotation,
} from './objects.ts'
import type { Installed, SandboxReader } from './reader.ts'
import { referToTemplate, type TemplateParts } from './templates.ts'
import { type Watcher, waitForObject } from './watched-object.ts'

export type ClaimParts = Watcher &
  TemplateParts & {
    reader: SandboxReader
    /** Absent or empty: all. */
    namespaces?: readonly string[] | undefined
  }

/** What is deleted is gone by then, or its node does not answer. */
const endTimeoutMs = 60_000

export function nameClaim({ namespace, name }: ResourceKey): string {
  return `SandboxClaim ${namespace}/${name}`
}

/** Deleted, with all that it had. */
async function waitUntilGone(parts: ClaimParts, { namespace, name }: ResourceKey): Promise<void> {
  const { claims: collection } = (await parts.reader.find()).collections
  const judge = (claim: SandboxClaim | undefined) => claim === undefined || undefined
  const signal = AbortSignal.timeout(endTimeoutMs)
  try {
    await waitForObject<SandboxClaim, true>(parts, { collection, namespace, name, judge }, signal)
  } catch (error) {
    if (!signal.aborted) throw error
    const message = `${nameClaim({ namespace, name })} is still being deleted after ${endTimeoutMs / 1000} s`
    throw new WorkspaceError('ProviderUnavailable', message)
  }
}

type Making = { installed: Installed; claim: WorkspaceClaim; spec: object }

async function makeClaim(parts: ClaimParts, { installed, claim, spec }: Making): Promise<void> {
  const { claims: collection } = installed.collections
  const { namespace, name } = claim
  const body = {
    apiVersion: `${collection.group}/${collection.version}`,
    kind: 'SandboxClaim',
    metadata: {
      name,
      namespace,
      labels: { ...claim.labels, [claimLabels.instance]: parts.instance, [claimLabels.component]: claimComponent },
      annotations: { [templateAnnotation]: claim.template.name },
    },
    spec,
  }
  await parts.api.request({ verb: 'create', collection, namespace, body })
}

function checkOwn({ metadata }: SandboxClaim, instance: string): void {
  if (metadata.labels?.[claimLabels.instance] === instance) return
  throw new WorkspaceError('ProtocolError', `${nameClaim(metadata)} is there, but not of this service: delete it`)
}

/** Whether it had to be made. */
export async function ensureClaim(parts: ClaimParts, claim: WorkspaceClaim): Promise<boolean> {
  const installed = await parts.reader.find()
  const referring = referToTemplate(parts, installed, claim)
  // What is there is used, whatever became of its template.
  referring.catch(() => undefined)
  const found = await parts.reader.claim(claim)
  if (found?.metadata.deletionTimestamp !== undefined) await waitUntilGone(parts, claim)
  else if (found !== undefined) {
    checkOwn(found, parts.instance)
    return false
  }
  return unlessExists(makeClaim(parts, { installed, claim, spec: await referring }))
}

export type SandboxWait = {
  signal: AbortSignal
  /** The claim as it is now. Absent: it is on its way to something else. */
  seen?: SandboxClaim | undefined
  onPending(why: string): void
}

/** The sandbox, once it is ready. Rejects with what the claim says when it never will be. */
export async function waitForSandbox(
  parts: ClaimParts,
  claim: ResourceKey,
  { signal, seen, onPending }: SandboxWait,
): Promise<SandboxObject> {
  signal.throwIfAborted()
  const { claims: collection } = (await parts.reader.find()).collections
  const judge = (found: SandboxClaim | undefined) => {
    const state = judgeClaim(found)
    if (state.phase === 'Absent') throw new WorkspaceError('WorkspaceLost', `${nameClaim(claim)} is gone`)
    if (state.phase === 'Failed') throw new WorkspaceError(state.reason, state.message)
    if (state.phase === 'Pending') onPending(state.message ?? '')
    return found !== undefined && findReadySandbox(found) !== undefined ? found : undefined
  }
  const wanted = { collection, namespace: claim.namespace, name: claim.name, judge }
  const ready = (seen && judge(seen)) ?? (await waitForObject<SandboxClaim, SandboxClaim>(parts, wanted, signal))
  const sandbox = await parts.reader.sandboxOf(ready)
  if (sandbox === undefined) throw new WorkspaceError('WorkspaceLost', `the sandbox of ${nameClaim(claim)} is gone`)
  return sandbox
}

/** Those of this installation. */
export async function* listClaims(parts: ClaimParts): AsyncGenerator<ListedWorkspace> {
  try {
    yield* listAll(parts)
  } catch (error) {
    throw explainClusterFault(error)
  }
}

async function* listAll(parts: ClaimParts): AsyncGenerator<ListedWorkspace> {
  const { claims: collection } = (await parts.reader.find()).collections
  const query = {
    labelSelector: `${claimLabels.instance}=${parts.instance},${claimLabels.component}=${claimComponent}`,
  }
  for (const scope of listScopes(parts.namespaces)) {
    const { items } = await parts.api.request<{ items: SandboxClaim[] }>({ verb: 'list', collection, ...scope, query })
    for (const claim of items) {
      const createdAt = new Date(claim.metadata.creationTimestamp)
      yield { claim: readClaim(claim), state: judgeClaim(claim), createdAt }
    }
  }
}

const suspendTimeoutMs = 60_000
/** Programs that are still there get a second, then the kernel ends them. */
const podGraceSeconds = 1

export function podNameOf({ metadata }: SandboxObject): string {
  return metadata.annotations?.[podNameAnnotation] ?? metadata.name
}

async function setMode({ api, reader }: ClaimParts, { metadata }: SandboxObject, isRunning: boolean): Promise<void> {
  const { collections, version } = await reader.find()
  const { namespace, name } = metadata
  const body = setRunning(version, isRunning)
  await api.request({ verb: 'patch', patch: 'merge', collection: collections.sandboxes, namespace, name, body })
}

async function findSandbox({ reader }: ClaimParts, key: ResourceKey): Promise<SandboxObject | undefined> {
  const claim = await reader.claim(key)
  return claim && reader.sandboxOf(claim)
}

/** Whether it was suspended. */
export async function resumeSandbox(parts: ClaimParts, claim: SandboxClaim | undefined): Promise<boolean> {
  if (claim === undefined || !isSuspendedClaim(claim)) return false
  const sandbox = await parts.reader.sandboxOf(claim)
  if (sandbox === undefined) return true
  // One that is still on its way out would be taken for the new one.
  await removePod(parts, sandbox)
  await setMode(parts, sandbox, true)
  return true
}

async function removePod(parts: ClaimParts, sandbox: SandboxObject): Promise<void> {
  const target = { collection: pods, namespace: sandbox.metadata.namespace, name: podNameOf(sandbox) }
  const pod = await orAbsent(parts.api.request<Pod>({ verb: 'get', ...target }))
  if (pod === undefined) return
  const { uid } = pod.metadata
  const body = { gracePeriodSeconds: podGraceSeconds, preconditions: { uid } }
  await orAbsent(parts.api.request({ verb: 'delete', ...target, body }))
  const judge = (found: Pod | undefined) => found?.metadata.uid !== uid || undefined
  await waitForObject<Pod, true>(parts, { ...target, judge }, AbortSignal.timeout(suspendTimeoutMs))
}

/** Does nothing where the files would go with the pod: in a template without a volume of its own. */
export async function suspendSandbox(parts: ClaimParts, key: ResourceKey): Promise<void> {
  const sandbox = await findSandbox(parts, key)
  if (sandbox === undefined || isSuspended(sandbox) || findLastingFolder(sandbox.spec ?? {}) === undefined) return
  await setMode(parts, sandbox, false)
  const { claims: collection } = (await parts.reader.find()).collections
  const judge = (claim: SandboxClaim | undefined) => claim === undefined || isSuspendedClaim(claim) || undefined
  const wanted = { collection, namespace: key.namespace, name: key.name, judge }
  await waitForObject<SandboxClaim, true>(parts, wanted, AbortSignal.timeout(suspendTimeoutMs))
  await removePod(parts, sandbox)
}

/** From the claim down to the pod: in this order nobody makes the pod again. */
export async function removeSandbox(parts: ClaimParts, key: ResourceKey): Promise<void> {
  const { api, reader } = parts
  const { claims, sandboxes } = (await reader.find()).collections
  const sandbox = await findSandbox(parts, key)
  const { namespace, name } = key
  const query = { propagationPolicy: 'Foreground' }
  const deleted = await orAbsent(api.request({ verb: 'delete', collection: claims, namespace, name, query }))
  if (sandbox !== undefined) {
    const target = { collection: sandboxes, namespace, name: sandbox.metadata.name }
    await orAbsent(api.request({ verb: 'delete', ...target, query }))
    await removePod(parts, sandbox)
  }
  if (deleted !== undefined) await waitUntilGone(parts, key)
}

function describe(what: { reason?: string; message?: string } | undefined): string | undefined {
  const parts = [what?.reason, what?.message].filter((part) => part !== undefined && part !== '')
  return parts.length === 0 ? undefined : parts.join(': ')
}

function readPod({ status }: Pod): string | undefined {
  const unmet = status?.conditions?.find(({ type, status: is }) => type === 'PodScheduled' && is === 'False')
  if (unmet !== undefined) return describe(unmet)
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  const waiting = all.map(({ state }) => state?.waiting).find((each) => each?.reason !== undefined)
  return describe(waiting ?? all.find(({ state }) => state?.terminated)?.state?.terminated)
}

/** Undefined when nothing more is known. */
export async function explainUnready({ api, reader }: ClaimParts, key: ResourceKey): Promise<string | undefined> {
  try {
    const claim = await reader.claim(key)
    const sandbox = claim && (await reader.sandboxOf(claim))
    if (sandbox === undefined) return undefined
    const target = { collection: pods, namespace: key.namespace, name: podNameOf(sandbox) }
    const pod = await orAbsent(api.request<Pod>({ verb: 'get', ...target, tries: 1 }))
    return pod && readPod(pod)
  } catch {
    return undefined
  }
}
