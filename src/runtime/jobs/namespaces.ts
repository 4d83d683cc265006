// What a namespace needs before the service creates pods in it: the workers' account, and network policies, which take
// effect where the cluster's network plugin enforces them.
import { unlessExists } from '../../cluster/api/failures.ts'
import type { Collection } from '../../cluster/api/paths.ts'
import type { KubernetesApi } from '../../cluster/api.ts'
import { type Component, networkPolicies, podLabels, serviceAccounts } from './objects.ts'

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
    metadata: { name: serviceAccount, namespace, labels: { [podLabels.instance]: instance } },
    automountServiceAccountToken: false,
  }
}

/** Once per namespace and run of the service; a failure is retried with the next attempt. */
export function createNamespacePreparer(options: PreparerOptions): NamespacePreparer {
  const { api, instance, onFault } = options
  const prepared = new Map<string, Promise<void>>()

  async function make(namespace: string): Promise<void> {
    const create = (collection: Collection, body: object) =>
      unlessExists(api.request({ verb: 'create', collection, namespace, body }))
    const account = create(serviceAccounts, makeAccount(namespace, options))
    const policy = create(networkPolicies, makeWorkerPolicy(namespace, instance))
    const sealed = create(networkPolicies, makeSealedPolicy(namespace, instance))
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

type WorkerNetwork = {
  /** Ranges that workers must not reach; default: the cloud's metadata addresses. */
  deny?: string[]
}

/** Link-local: where every cloud keeps the node's credentials (169.254.169.254, fd00:ec2::254). */
const metadataRanges = ['169.254.0.0/16', 'fd00:ec2::254/128', 'fe80::/10']

function isIpv6(range: string): boolean {
  return range.includes(':')
}

function describePolicy(name: string, namespace: string, instance: string) {
  return { name, namespace, labels: { [podLabels.instance]: instance } }
}

/** Workers and commands: no incoming connections; outgoing ones anywhere except the metadata addresses. */
function makeWorkerPolicy(namespace: string, instance: string, { deny = metadataRanges }: WorkerNetwork = {}) {
  const blocks = [
    { cidr: '0.0.0.0/0', except: deny.filter((range) => !isIpv6(range)) },
    { cidr: '::/0', except: deny.filter(isIpv6) },
  ]
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: describePolicy(`${instance}-workers`, namespace, instance),
    spec: {
      podSelector: {
        matchLabels: { [podLabels.instance]: instance },
        matchExpressions: [{ key: podLabels.component, operator: 'In', values: ['worker', 'command'] }],
      },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [],
      egress: [{ to: blocks.map((ipBlock) => ({ ipBlock })) }],
    },
  }
}

function closePods(
  component: Component,
  name: string,
  { namespace, instance }: { namespace: string; instance: string },
) {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: describePolicy(`${instance}-${name}`, namespace, instance),
    spec: {
      podSelector: { matchLabels: { [podLabels.instance]: instance, [podLabels.component]: component } },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [],
      egress: [],
    },
  }
}

/** Sandboxes of code_exec: no connections in either direction (BUILT-020). */
export function makeSandboxPolicy(namespace: string, instance: string) {
  return closePods('sandbox', 'sandboxes', { namespace, instance })
}

/** Commands without network: no connections in either direction. */
function makeSealedPolicy(namespace: string, instance: string) {
  return closePods('sealed', 'sealed', { namespace, instance })
}
