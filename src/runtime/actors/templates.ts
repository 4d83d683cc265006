// Reads the templates and pools of actors, which other controllers of the cluster own (group ate.dev).

import type { KubernetesApi } from '../../cluster/api.ts'
import { isSvcError } from '../../errors.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import type { ActorPool, ActorTemplate } from '../../rules/workspaces/actor-templates.ts'

export interface ActorTemplates {
  /** Undefined when there is none. */
  template(key: ResourceKey): Promise<ActorTemplate | undefined>
  pool(key: ResourceKey): Promise<ActorPool | undefined>
}

const group = { group: 'ate.dev', version: 'v1alpha1' }

type Metadata = {
  name: string
  namespace: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
}
type TemplateObject = {
  metadata: Metadata
  spec?: { containers?: { env?: { name: string }[] }[] }
  status?: { phase?: string }
}

function describe({ name, namespace, labels = {}, annotations = {} }: Metadata) {
  return { name, namespace, labels, annotations }
}

export function createActorTemplates(api: Pick<KubernetesApi, 'request'>): ActorTemplates {
  async function find<T>(plural: string, key: ResourceKey): Promise<T | undefined> {
    try {
      return await api.request<T>({ verb: 'get', collection: { ...group, plural }, ...key })
    } catch (error) {
      if (isSvcError(error, 'NotFound')) return undefined
      throw error
    }
  }
  return {
    async template(key) {
      const found = await find<TemplateObject>('actortemplates', key)
      if (found === undefined) return undefined
      const variables = (found.spec?.containers ?? []).map(({ env = [] }) => env.map(({ name }) => name))
      return { ...describe(found.metadata), variables, phase: found.status?.phase ?? '' }
    },
    async pool(key) {
      const found = await find<{ metadata: Metadata }>('workerpools', key)
      return found === undefined ? undefined : describe(found.metadata)
    },
  }
}
