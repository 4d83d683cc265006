// What an admission policy of the service has as its parameter: one object in the service's own namespace.
import { isSvcError } from '../errors.ts'
import type { EntriesRead, PolicyEntries } from '../ports/resources/policy-entries.ts'
import { usedElsewhere } from '../rules/tasks/uses-elsewhere.ts'
import { orAbsent, unlessExists } from './api/failures.ts'
import type { KubernetesApi } from './api.ts'

type Stored = { metadata: { resourceVersion: string }; data?: Record<string, string> }

export function createPolicyEntries(api: KubernetesApi, namespace: string): PolicyEntries {
  const { group, version, kind, plural, name } = usedElsewhere
  const objects = { collection: { group, version, plural }, namespace }
  const target = { ...objects, name }

  async function find(): Promise<EntriesRead | undefined> {
    const found = await orAbsent(api.request<Stored>({ verb: 'get', ...target }))
    return found && { version: found.metadata.resourceVersion, entries: found.data ?? {} }
  }

  return {
    async read() {
      try {
        const known = await find()
        if (known !== undefined) return known
        const body = { apiVersion: `${group}/${version}`, kind, metadata: { name } }
        await unlessExists(api.request({ verb: 'create', ...objects, body }))
        return await find()
      } catch (error) {
        if (isSvcError(error, 'NotConfigured')) return undefined
        throw error
      }
    },
    async replace(found, entries) {
      const gone = Object.keys(found.entries).map((entry) => [entry, null])
      const data = { ...Object.fromEntries(gone), ...entries }
      const body = { metadata: { resourceVersion: found.version }, data }
      await api.request({ verb: 'patch', ...target, patch: 'merge', body })
    },
  }
}
