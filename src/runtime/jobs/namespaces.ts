// What a namespace needs before the service creates pods in it: the workers' account and network policy.

import type { Collection } from '../../cluster/api/paths.ts'
import type { KubernetesApi } from '../../cluster/api.ts'
import { isSvcError } from '../../errors.ts'
import { labels } from './names.ts'
import { makeSealedPolicy, makeWorkerPolicy } from './network-policy.ts'
import { networkPolicies, serviceAccounts } from './objects.ts'

export type NamespacePreparer = { prepare(namespace: string): Promise<void> }

type PreparerOptions = {
  api: KubernetesApi
  instance: string
  serviceAccount: string
  /** Called when something could not be created; work continues without it. */
  onFault: (error: unknown, what: string) => void
}

/** Without rights, and without a token unless the pod requests one. */
function makeAccount(namespace: string, { instance, serviceAccount }: PreparerOptions) {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: serviceAccount, namespace, labels: { [labels.instance]: instance } },
    automountServiceAccountToken: false,
  }
}

async function createOnce(api: KubernetesApi, collection: Collection, namespace: string, body: object): Promise<void> {
  try {
    await api.request({ verb: 'create', collection, namespace, body })
  } catch (error) {
    if (!isSvcError(error, 'AlreadyExists')) throw error
  }
}

/** Once per namespace and run of the service; a failure is retried with the next attempt. */
export function createNamespacePreparer(options: PreparerOptions): NamespacePreparer {
  const { api, instance, onFault } = options
  const prepared = new Map<string, Promise<void>>()

  async function make(namespace: string): Promise<void> {
    const account = createOnce(api, serviceAccounts, namespace, makeAccount(namespace, options))
    const policy = createOnce(api, networkPolicies, namespace, makeWorkerPolicy(namespace, instance))
    const sealed = createOnce(api, networkPolicies, namespace, makeSealedPolicy(namespace, instance))
    const results = await Promise.allSettled([account, policy, sealed])
    const names = ['the account of workers', 'the network policy of workers', 'that of commands without network']
    for (const [index, result] of results.entries()) {
      if (result.status === 'fulfilled') continue
      prepared.delete(namespace)
      onFault(result.reason, names[index] ?? '')
    }
  }

  return {
    prepare(namespace) {
      const known = prepared.get(namespace) ?? make(namespace)
      prepared.set(namespace, known)
      return known
    },
  }
}
