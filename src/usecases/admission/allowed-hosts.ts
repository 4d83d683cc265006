// A Secret that says where it may be sent is named only by what sends it there, and by nothing that hands it to code.
import { isAllowedHost } from '../../contract/allowed-hosts.ts'
import { findReferences } from '../../contract/reference-paths.ts'
import type { Kind, SpecOf } from '../../contract/resources/index.ts'
import { SvcError } from '../../errors.ts'
import type { ResourceKey } from '../../ports/resources.ts'
import { readAllowedHosts } from '../../rules/trusted-address.ts'
import type { UsecaseDeps } from '../deps.ts'
import type { AdmissionRequest } from './admission.ts'
import { isUseChanged } from './references.ts'

/** `code`: to a process or pod, whose connections nobody checks. `vendor`: to the vendor's own address, checked when dialling. */
type Receiver = URL | 'code' | 'vendor'

const receivers: { [K in Kind]?: (spec: SpecOf<K>) => Receiver } = {
  Task: () => 'code',
  Agent: () => 'code',
  Provider: ({ baseURL }) => (baseURL === undefined ? 'vendor' : (URL.parse(baseURL) ?? 'code')),
  Tool: ({ http }) => URL.parse(http?.url ?? '') ?? 'code',
}

function requireHost({ namespace, name }: ResourceKey, hosts: readonly string[], receiver: Receiver): void {
  if (receiver === 'vendor' || (receiver !== 'code' && isAllowedHost(receiver, hosts))) return
  const where = receiver === 'code' ? 'the code of a task' : receiver.host
  throw new SvcError(
    'Forbidden',
    `the secret "${namespace}/${name}" may be sent to ${hosts.join(', ') || 'no host'} (annotation svc.ai/allowed-hosts), not to ${where}`,
  )
}

/** Forbidden when a Secret that the spec names may not be sent where the spec sends it. */
export async function requireAllowedHosts<K extends Kind>(
  kind: K,
  { namespace, spec, before }: AdmissionRequest<K>,
  { ports }: UsecaseDeps,
): Promise<void> {
  const receiver = (receivers[kind] as ((spec: SpecOf<K>) => Receiver) | undefined)?.(spec)
  if (receiver === undefined || !isUseChanged(kind, before, spec)) return
  for (const reference of findReferences(kind, spec)) {
    if (reference.kind !== 'Secret') continue
    const key = { name: reference.name, namespace: reference.namespace ?? namespace }
    const hosts = readAllowedHosts((await ports.secrets.describe(key))?.annotations)
    if (hosts !== undefined) requireHost(key, hosts, receiver)
  }
}
