import { expect, it } from 'vitest'
import type { ApiRequest, KubernetesApi } from '../../cluster/api.ts'
import type { ClaimParts } from './claims.ts'
import { limitClaim } from './network.ts'
import { listCollections, type SandboxClaim } from './objects.ts'

const key = { namespace: 'team', name: 'svc-ws-1' }
const egress = [{ to: [{ ipBlock: { cidr: '10.1.2.3/32' } }], ports: [{ protocol: 'TCP', port: 8082 }] }]
const gate = { prepare: async () => ({ reach: { hostAliases: [], egress } }) }

function open(claim: SandboxClaim | undefined) {
  const requests: ApiRequest[] = []
  const api = { request: async (request: ApiRequest) => void requests.push(request) } as unknown as KubernetesApi
  const collections = listCollections('v1beta1')
  const reader = { claim: async () => claim, find: async () => ({ version: 'v1beta1', collections }) }
  return {
    requests,
    parts: { api, reader, instance: 'svc-system', gate } as unknown as ClaimParts & { gate: typeof gate },
  }
}

const claim = { metadata: { ...key, uid: 'uid-of-claim' } } as SandboxClaim

it('a sandbox that is limited has a policy of its own, which goes with its claim', async () => {
  const { requests, parts } = open(claim)
  await limitClaim(parts, key, true)
  const names = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } } }
  expect(requests).toMatchObject([
    { verb: 'patch', patch: 'apply', namespace: 'team', name: 'svc-system-workspace-svc-ws-1' },
  ])
  expect(requests[0]?.body).toMatchObject({
    kind: 'NetworkPolicy',
    metadata: {
      ownerReferences: [
        {
          apiVersion: 'extensions.agents.x-k8s.io/v1beta1',
          kind: 'SandboxClaim',
          name: 'svc-ws-1',
          uid: 'uid-of-claim',
        },
      ],
    },
    spec: {
      policyTypes: ['Egress'],
      podSelector: { matchLabels: { 'agents.x-k8s.io/claim-uid': 'uid-of-claim' } },
      egress: [...egress, { to: [names], ports: [53, 53].map((port) => ({ port })) }],
    },
  })
})

it('one that is not has none any more', async () => {
  const { requests, parts } = open(claim)
  await limitClaim(parts, key, false)
  expect(requests).toMatchObject([{ verb: 'delete', namespace: 'team', name: 'svc-system-workspace-svc-ws-1' }])
})

it('one that is gone cannot be limited', async () => {
  await expect(limitClaim(open(undefined).parts, key, true)).rejects.toMatchObject({ reason: 'WorkspaceLost' })
})
