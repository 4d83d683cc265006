// A Secret with allowed hosts may only be named where it is sent to one of them, and never where code receives it.

import type { Kind, SpecOf } from '../../../contract/kinds/index.ts'
import { findReferences } from '../../../contract/schema/reference-paths.ts'
import { readGitAddress } from '../../../contract/values/git-address.ts'
import { SvcError } from '../../../errors.ts'
import { findReceiverProblem, type Receiver } from '../../../rules/identity/secret-receiver.ts'
import { repositoryUrl } from '../../../rules/workspaces/git-workspace.ts'
import type { UsecaseDeps } from '../../service/deps.ts'
import { isUseChanged } from './references.ts'
import type { AdmissionRequest } from './request.ts'

const receivers: { [K in Kind]?: (spec: SpecOf<K>, field: string) => Receiver } = {
  Task: (spec, field) => (field.endsWith('.gitSecretRef') ? (repositoryUrl(spec) ?? 'code') : 'code'),
  // The keys of a runtime are for the vendor's own address.
  Agent: ({ runtime }) => (runtime === undefined ? 'code' : 'vendor'),
  Provider: ({ baseURL }) => (baseURL === undefined ? 'vendor' : (URL.parse(baseURL) ?? 'code')),
  RepositoryMonitor: ({ repoURL }) => readGitAddress(repoURL) ?? 'code',
  Tool: ({ http }) => URL.parse(http?.url ?? '') ?? 'code',
}

/** Forbidden when the spec would send a Secret somewhere it may not go. */
export async function requireAllowedHosts<K extends Kind>(
  kind: K,
  { namespace, spec, before }: AdmissionRequest<K>,
  { ports }: UsecaseDeps,
): Promise<void> {
  const receiverOf = receivers[kind] as ((spec: SpecOf<K>, field: string) => Receiver) | undefined
  if (receiverOf === undefined || !isUseChanged(kind, before, spec)) return
  for (const reference of findReferences(kind, spec)) {
    if (reference.kind !== 'Secret') continue
    const receiver = receiverOf(spec, reference.field)
    const key = { name: reference.name, namespace: reference.namespace ?? namespace }
    const annotations = (await ports.secrets.describe(key))?.annotations
    const problem = findReceiverProblem({ ...key, annotations }, receiver)
    if (problem !== undefined) throw new SvcError('Forbidden', problem)
  }
}
