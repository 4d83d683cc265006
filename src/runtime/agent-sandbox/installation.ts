// Which version of agent-sandbox's API the cluster serves.

import type { KubernetesApi } from '../../cluster/api.ts'
import { WorkspaceError } from '../../ports/workspaces/execution-workspaces.ts'
import { groups, listCollections, type SandboxCollections, type SandboxVersion, versions } from './objects.ts'

export type Installed = { version: SandboxVersion; collections: SandboxCollections }

export type Installation = {
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
  let found: Promise<Installed> | undefined
  return {
    find() {
      found ??= look(api).catch((error: unknown) => {
        found = undefined
        throw error
      })
      return found
    },
    forget() {
      found = undefined
    },
  }
}
