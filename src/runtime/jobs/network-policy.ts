// NetworkPolicies of the service's pods. They take effect where the cluster's network plugin enforces them.
import { type Component, labels } from './names.ts'

export type WorkerNetwork = {
  /** Ranges that workers must not reach; default: the cloud's metadata addresses. */
  deny?: string[]
}

/** Link-local: where every cloud keeps the node's credentials (169.254.169.254, fd00:ec2::254). */
const metadataRanges = ['169.254.0.0/16', 'fd00:ec2::254/128', 'fe80::/10']

function isIpv6(range: string): boolean {
  return range.includes(':')
}

function describePolicy(name: string, namespace: string, instance: string) {
  return { name, namespace, labels: { [labels.instance]: instance } }
}

/** Workers and commands: no incoming connections; outgoing ones anywhere except the metadata addresses. */
export function makeWorkerPolicy(namespace: string, instance: string, { deny = metadataRanges }: WorkerNetwork = {}) {
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
        matchLabels: { [labels.instance]: instance },
        matchExpressions: [{ key: labels.component, operator: 'In', values: ['worker', 'command'] }],
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
      podSelector: { matchLabels: { [labels.instance]: instance, [labels.component]: component } },
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
export function makeSealedPolicy(namespace: string, instance: string) {
  return closePods('sealed', 'sealed', { namespace, instance })
}
