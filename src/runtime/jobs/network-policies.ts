// What pods of attempts may reach and who may reach them, as network policies, which take effect where the cluster's network
// plugin enforces them. Policies of one pod add up, so a pod whose network is the gate is selected by that policy alone.
import type { KubernetesApi } from '../../cluster/api.ts'
import { type Component, networkPolicies, podLabels } from './objects.ts'
import type { PodReach } from './reach.ts'

/** Link-local: where every cloud keeps the node's credentials (169.254.169.254, fd00:ec2::254). */
const metadataRanges = ['169.254.0.0/16', 'fd00:ec2::254/128', 'fe80::/10']

/** The value of the label `network` of a pod that reaches the service and its gate alone. */
export const gated = 'gate'

function isIpv6(range: string): boolean {
  return range.includes(':')
}

type Owner = { namespace: string; instance: string }
type Selector = { matchLabels: Record<string, string>; matchExpressions?: object[] }

/** Nobody calls these pods. */
function makePolicy(
  suffix: string,
  { namespace, instance }: Owner,
  rules: { podSelector: Selector; egress: object[] },
) {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: `${instance}-${suffix}`, namespace, labels: { [podLabels.instance]: instance } },
    spec: { policyTypes: ['Ingress', 'Egress'], ingress: [], ...rules },
  }
}

/** Workers and commands with an open network: outgoing connections anywhere except the metadata addresses. */
export function makeWorkerPolicy(owner: Owner) {
  const blocks = [
    { cidr: '0.0.0.0/0', except: metadataRanges.filter((range) => !isIpv6(range)) },
    { cidr: '::/0', except: metadataRanges.filter(isIpv6) },
  ]
  const podSelector = {
    matchLabels: { [podLabels.instance]: owner.instance },
    matchExpressions: [
      { key: podLabels.component, operator: 'In', values: ['worker', 'command'] },
      { key: podLabels.network, operator: 'NotIn', values: [gated] },
    ],
  }
  return makePolicy('workers', owner, { podSelector, egress: [{ to: blocks.map((ipBlock) => ({ ipBlock })) }] })
}

/** Not even DNS: names are resolved by the gate, and those of the service are in the pod's hosts file. */
export function makeGatePolicy(owner: Owner, { egress }: PodReach) {
  const podSelector = { matchLabels: { [podLabels.instance]: owner.instance, [podLabels.network]: gated } }
  return makePolicy('gated', owner, { podSelector, egress })
}

/** Where the claim of a sandbox stands on its pod (agent-sandbox, extensions/api, SandboxIDLabel). */
const claimLabel = 'agents.x-k8s.io/claim-uid'

/** The cluster's own: the pods of sandboxes have the hosts file of their template. */
const clusterNames = {
  to: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } } }],
  ports: [
    { protocol: 'UDP', port: 53 },
    { protocol: 'TCP', port: 53 },
  ],
}

export function nameClaimPolicy(instance: string, claim: string): string {
  return `${instance}-workspace-${claim}`
}

/** The sandbox of one claim, with which the policy goes. What the template's own policy allows adds up with it. */
export function makeClaimPolicy(
  { namespace, instance }: Owner,
  claim: { name: string; uid: string; apiVersion: string },
  { egress }: PodReach,
) {
  const { name, uid, apiVersion } = claim
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: {
      name: nameClaimPolicy(instance, name),
      namespace,
      labels: { [podLabels.instance]: instance },
      ownerReferences: [{ apiVersion, kind: 'SandboxClaim', name, uid }],
    },
    // Who may call it is for its template to say.
    spec: {
      policyTypes: ['Egress'],
      podSelector: { matchLabels: { [claimLabel]: uid } },
      egress: [...egress, clusterNames],
    },
  }
}

function closePods(component: Component, suffix: string, owner: Owner) {
  const podSelector = { matchLabels: { [podLabels.instance]: owner.instance, [podLabels.component]: component } }
  return makePolicy(suffix, owner, { podSelector, egress: [] })
}

/** Sandboxes of code_exec: no connections in either direction (BUILT-020). */
export function makeSandboxPolicy(namespace: string, instance: string) {
  return closePods('sandbox', 'sandboxes', { namespace, instance })
}

/** Commands without network: no connections in either direction. */
export function makeSealedPolicy(owner: Owner) {
  return closePods('sealed', 'sealed', owner)
}

/** Also one that an earlier version of the service wrote. */
export function applyPolicy(
  api: Pick<KubernetesApi, 'request'>,
  body: { metadata: { name: string; namespace: string } },
  signal?: AbortSignal,
): Promise<unknown> {
  const { name, namespace } = body.metadata
  const query = { fieldManager: 'svc', force: true }
  const target = { collection: networkPolicies, namespace, name, query, body }
  return api.request({ verb: 'patch', patch: 'apply', ...target, ...(signal && { signal }) })
}
