// Reads claims and sandboxes, in the version that the cluster has.

import type { KubernetesApi } from '../../cluster/api.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import { orAbsent } from './faults.ts'
import type { Installation, Installed } from './installation.ts'
import type { Sandbox, SandboxClaim } from './objects.ts'

export type SandboxReader = {
  find(): Promise<Installed>
  claim(key: ResourceKey): Promise<SandboxClaim | undefined>
  /** The sandbox that a claim has now. */
  sandboxOf(claim: SandboxClaim): Promise<Sandbox | undefined>
}

function isOwn(sandbox: Sandbox, claim: SandboxClaim): boolean {
  return sandbox.metadata.ownerReferences?.some(({ uid }) => uid === claim.metadata.uid) ?? false
}

export function createReader(parts: { api: KubernetesApi; installation: Installation }): SandboxReader {
  const { api, installation } = parts
  return {
    find: installation.find,
    async claim({ namespace, name }) {
      const { claims: collection } = (await installation.find()).collections
      return orAbsent(api.request<SandboxClaim>({ verb: 'get', collection, namespace, name }))
    },
    async sandboxOf(claim) {
      const { sandboxes: collection } = (await installation.find()).collections
      const { namespace } = claim.metadata
      // One that was started for this claim has its name, which the status may not tell yet.
      const name = claim.status?.sandbox?.name ?? claim.metadata.name
      const sandbox = await orAbsent(api.request<Sandbox>({ verb: 'get', collection, namespace, name }))
      return sandbox !== undefined && isOwn(sandbox, claim) ? sandbox : undefined
    },
  }
}
