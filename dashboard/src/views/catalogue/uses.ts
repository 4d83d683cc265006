// What names an object: found in the objects that can name one of its kind.
import { listAgents } from '../../../../src/contract/api/agents/agents.ts'
import { listProviders } from '../../../../src/contract/api/providers/providers.ts'
import { useRecord } from '../../data/records.ts'
import type { ObjectPath, StoredObject } from '../objects/object-kinds.ts'
import { type Key, names } from './naming.ts'

export type Use = { path: ObjectPath; namespace: string; name: string }
/** Fields under which each kind is named. */
const namingFields: Partial<Record<ObjectPath, RegExp>> = {
  agents: /^(agentRef|allowedAgents)$/,
  providers: /^providerRef$/,
  tools: /^tools$/,
  skills: /^skills$/,
}

/** Agents and providers of the namespace that name the object. */
export function useUses(path: ObjectPath, key: Key): Use[] {
  const input = { query: { namespace: key.namespace, limit: 500 } }
  const agents = useRecord('Agent', listAgents, input).data?.items ?? []
  const providers = useRecord('Provider', listProviders, input).data?.items ?? []
  const field = namingFields[path]
  if (field === undefined) return []
  const find = (from: ObjectPath, objects: readonly unknown[]) =>
    (objects as StoredObject[]).flatMap(({ metadata, spec }) => {
      if (!names(spec, field, { ...key, home: metadata.namespace })) return []
      return [{ path: from, namespace: metadata.namespace, name: metadata.name }]
    })
  return [...find('agents', agents), ...find('providers', providers)]
}
