// Sandboxes that are resumed, suspended and deleted.
import type { ResourceKey } from '../../ports/resources/resources.ts'
import { type Pod, pods } from '../jobs/objects.ts'
import { type ClaimParts, waitUntilGone } from './claims.ts'
import { orAbsent } from './faults.ts'
import {
  findLastingFolder,
  isSuspended,
  podNameAnnotation,
  type Sandbox,
  type SandboxClaim,
  setRunning,
} from './objects.ts'
import { isSuspendedClaim } from './state.ts'
import { waitForObject } from './watched-object.ts'

const suspendTimeoutMs = 60_000
/** Programs that are still there get a second, then the kernel ends them. */
const podGraceSeconds = 1

export function podNameOf({ metadata }: Sandbox): string {
  return metadata.annotations?.[podNameAnnotation] ?? metadata.name
}

async function setMode({ api, reader }: ClaimParts, { metadata }: Sandbox, isRunning: boolean): Promise<void> {
  const { collections, version } = await reader.find()
  const { namespace, name } = metadata
  const body = setRunning(version, isRunning)
  await api.request({ verb: 'patch', patch: 'merge', collection: collections.sandboxes, namespace, name, body })
}

async function findSandbox({ reader }: ClaimParts, key: ResourceKey): Promise<Sandbox | undefined> {
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

async function removePod(parts: ClaimParts, sandbox: Sandbox): Promise<void> {
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
