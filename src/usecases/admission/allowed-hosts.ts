// A Secret that says where it may be sent is named only by what sends it there, and by nothing that hands it to code.

import { findReferences } from '../../contract/reference-paths.ts'
import type { Kind, SpecOf } from '../../contract/resources/index.ts'
import { SvcError } from '../../errors.ts'
import { findReceiverProblem, type Receiver } from '../../rules/secret-receiver.ts'
import type { UsecaseDeps } from '../deps.ts'
import { isUseChanged } from './references.ts'
import type { AdmissionRequest } from './request.ts'

const receivers: { [K in Kind]?: (spec: SpecOf<K>) => Receiver } = {
  Task: () => 'code',
  Agent: () => 'code',
  Provider: ({ baseURL }) => (baseURL === undefined ? 'vendor' : (URL.parse(baseURL) ?? 'code')),
  Tool: ({ http }) => URL.parse(http?.url ?? '') ?? 'code',
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
    const annotations = (await ports.secrets.describe(key))?.annotations
    const problem = findReceiverProblem({ ...key, annotations }, receiver)
    if (problem !== undefined) throw new SvcError('Forbidden', problem)
  }
}
