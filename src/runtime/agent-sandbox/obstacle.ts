// Why a sandbox is not ready: its claim says little more than that its pod is not, so the pod is asked.
import type { ResourceKey } from '../../ports/resources/resources.ts'
import { type Pod, pods } from '../jobs/objects.ts'
import type { ClaimParts } from './claims.ts'
import { orAbsent } from './faults.ts'
import { podNameOf } from './lifecycle.ts'

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
export async function findObstacle({ api, reader }: ClaimParts, key: ResourceKey): Promise<string | undefined> {
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
