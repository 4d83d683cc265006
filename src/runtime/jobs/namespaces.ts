// What a namespace needs before the service creates pods in it: the workers' account, and network policies.
import { unlessExists } from '../../cluster/api/failures.ts'
import type { KubernetesApi } from '../../cluster/api.ts'
import { messageOf, SvcError } from '../../errors.ts'
import { applyPolicy, makeGatePolicy, makeSealedPolicy, makeWorkerPolicy } from './network-policies.ts'
import { podLabels, serviceAccounts } from './objects.ts'
import type { PodReach } from './reach.ts'

export type NamespacePreparer = {
  prepare(namespace: string): Promise<void>
  /** Unavailable unless the policies of pods whose network is the gate are there. */
  prepareGate(namespace: string, reach: PodReach): Promise<void>
}

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
    metadata: { name: serviceAccount, namespace, labels: { [podLabels.instance]: instance } },
    automountServiceAccountToken: false,
  }
}

/** Once per namespace and run of the service; a failure is retried with the next attempt. */
export function createNamespacePreparer(options: PreparerOptions): NamespacePreparer {
  const { api, instance, onFault } = options
  const prepared = new Map<string, Promise<boolean>>()

  /** Whether all of it is there. */
  async function make(namespace: string): Promise<boolean> {
    const body = makeAccount(namespace, options)
    const account = unlessExists(api.request({ verb: 'create', collection: serviceAccounts, namespace, body }))
    const policies = [makeWorkerPolicy, makeSealedPolicy].map((write) =>
      applyPolicy(api, write({ namespace, instance })),
    )
    const results = await Promise.allSettled([account, ...policies])
    const names = ['the account of workers', 'the network policy of workers', 'that of commands without network']
    for (const [index, result] of results.entries()) {
      if (result.status === 'rejected') onFault(result.reason, names[index] ?? '')
    }
    const isWhole = results.every(({ status }) => status === 'fulfilled')
    if (!isWhole) prepared.delete(namespace)
    return isWhole
  }

  function prepare(namespace: string): Promise<boolean> {
    const known = prepared.get(namespace) ?? make(namespace)
    prepared.set(namespace, known)
    return known
  }

  return {
    prepare: async (namespace) => void (await prepare(namespace)),
    async prepareGate(namespace, reach) {
      // The open policy of an earlier version selects every worker: the pod of the gate must not begin beside it.
      if (!(await prepare(namespace))) {
        throw new SvcError('Unavailable', `the network policies of ${namespace} could not be written`)
      }
      try {
        // For each pod anew: somebody may have removed it, and the addresses of the service change.
        await applyPolicy(api, makeGatePolicy({ namespace, instance }, reach))
      } catch (cause) {
        const what = `the network policy of ${namespace} could not be written`
        throw new SvcError('Unavailable', `${what}: ${messageOf(cause)}`, { cause })
      }
    },
  }
}
