// Reads claims and sandboxes in the version of agent-sandbox's API that the cluster serves.
import { orAbsent } from '../../cluster/api/failures.ts'
import type { KubernetesApi } from '../../cluster/api.ts'
import { once } from '../../lib/once.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import { WorkspaceError } from '../../ports/workspaces/execution-workspaces.ts'
import {
  groups,
  listCollections,
  type SandboxClaim,
  type SandboxCollections,
  type SandboxObject,
  type SandboxVersion,
  versions,
} from './objects.ts'

export type Installed = { version: SandboxVersion; collections: SandboxCollections }

type Installation = {
  /** What is installed now. ProviderUnavailable when nothing is. */
  find(): Promise<Installed>
  /** It is looked for again: an answer did not fit. */
  forget(): void
}

type Group = { versions: { version: string }[] }

async function look(api: KubernetesApi): Promise<Installed> {
  const collection = { group: groups.extensions, version: '', plural: '' }
  const { versions: served } = await api.request<Group>({ verb: 'get', collection })
  const version = versions.find((each) => served.some((one) => one.version === each))
  if (version !== undefined) return { version, collections: listCollections(version) }
  const known = versions.join(' nor ')
  const found = served.map((one) => one.version).join(', ')
  const message = `the agent-sandbox of this cluster serves neither ${known} of ${groups.extensions}, but ${found}`
  throw new WorkspaceError('ProviderUnavailable', message)
}

export function createInstallation(api: KubernetesApi): Installation {
  const find = once(() => look(api))
  return { find, forget: find.forget }
}

export type SandboxReader = {
  find(): Promise<Installed>
  claim(key: ResourceKey): Promise<SandboxClaim | undefined>
  /** The sandbox that a claim has now. */
  sandboxOf(claim: SandboxClaim): Promise<SandboxObject | undefined>
}

function isOwn(sandbox: SandboxObject, claim: SandboxClaim): boolean {
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
      // One that was started for this claim has its name, which the status may not show yet.
      const name = claim.status?.sandbox?.name ?? claim.metadata.name
      const sandbox = await orAbsent(api.request<SandboxObject>({ verb: 'get', collection, namespace, name }))
      return sandbox !== undefined && isOwn(sandbox, claim) ? sandbox : undefined
    },
  }
}
