// The double of agent-sandbox's controller, by itself: what its published API says of claims, pools and sandboxes.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Version } from '../fixtures/agent-sandbox/definitions.ts'
import type { Entity } from '../fixtures/agent-sandbox/world.ts'
import { waitFor } from '../fixtures/time.ts'
import { collectionOf, openSandboxes, type SandboxesBench } from './sandboxes-bench.ts'

const readyOf = ({ status }: Entity) =>
  (status?.conditions ?? []).find((each: { type: string }) => each.type === 'Ready') as
    | { status: string; reason: string }
    | undefined

const modes = {
  v1alpha1: { running: { replicas: 1 }, suspended: { replicas: 0 } },
  v1beta1: { running: { operatingMode: 'Running' }, suspended: { operatingMode: 'Suspended' } },
}

/** `refer`: what a claim of this version refers to a template by. */
export function describeDouble(version: Version, refer: (name: string) => object): void {
  describe(`the double of agent-sandbox, ${version}`, () => {
    let bench: SandboxesBench
    beforeAll(async () => {
      bench = await openSandboxes(version)
      await bench.addTemplate('plain')
      await bench.addPool('warm', 'plain', 1)
    })
    afterAll(() => bench?.close())

    const target = (plural: string, name: string) => ({
      collection: collectionOf(version, plural),
      namespace: bench.namespace,
      name,
    })
    const find = async (plural: string, name: string) =>
      (await bench.list(plural)).find(({ metadata }) => metadata.name === name)
    async function claim(name: string, spec: object): Promise<void> {
      const body = {
        apiVersion: `extensions.agents.x-k8s.io/${version}`,
        kind: 'SandboxClaim',
        metadata: { name },
        spec,
      }
      const { namespace } = bench
      await bench.api.request({ verb: 'create', collection: collectionOf(version, 'sandboxclaims'), namespace, body })
    }
    const waitForReady = (name: string, isReady: boolean) =>
      waitFor(
        async () => {
          const found = await find('sandboxclaims', name)
          return found !== undefined && readyOf(found)?.status === (isReady ? 'True' : 'False') && found
          // The published controller may look again after a minute only.
        },
        `${name} ready: ${isReady}`,
        100_000,
      )
    const podNames = async () => (await bench.listPods()).map(({ metadata }) => metadata.name)

    it('gives a claim the sandbox that waits, starts another one in its place, and removes what was claimed', async () => {
      const [waiting] = await bench.list('sandboxes')
      const [pod] = await bench.listPods()
      expect(pod?.metadata.name).toBe(waiting?.metadata.name)
      await claim('first', refer('warm'))
      const first = await waitForReady('first', true)
      expect(first.status.sandbox).toEqual({ name: waiting?.metadata.name, podIPs: [expect.any(String)] })
      const given = await find('sandboxes', waiting?.metadata.name ?? '')
      expect(given?.metadata.ownerReferences).toMatchObject([{ kind: 'SandboxClaim', name: 'first', controller: true }])
      expect(given?.metadata.labels).not.toHaveProperty('agents.x-k8s.io/warm-pool-sandbox')
      expect((await bench.listPods()).find((each) => each.metadata.uid === pod?.metadata.uid)).toBeDefined()
      await waitFor(
        async () => (await find('sandboxwarmpools', 'warm'))?.status?.readyReplicas === 1,
        'it is full again',
      )
      await bench.api.request({ verb: 'delete', ...target('sandboxclaims', 'first') })
      await waitFor(async () => !(await podNames()).includes(waiting?.metadata.name ?? ''), 'its pod is gone')
    })

    it('says why a claim is given nothing, and gives it something once it can', async () => {
      await claim('early', refer('late'))
      const early = await waitForReady('early', false)
      expect(readyOf(early)?.reason).toMatch(/^(WarmPool|Template)NotFound$/)
      await bench.addTemplate('late')
      await bench.addPool('late', 'late', 0)
      const found = await waitForReady('early', true)
      // Nothing waits in that pool: it was started for this claim.
      expect(found.status.sandbox.name).toBe('early')
      await bench.api.request({ verb: 'delete', ...target('sandboxclaims', 'early') })
    })

    it('takes the pod away from a suspended sandbox, and gives it a new one', async () => {
      await claim('asleep', refer('warm'))
      const { status } = await waitForReady('asleep', true)
      const { name } = status.sandbox
      const uidOf = async () => (await bench.listPods()).find((pod) => pod.metadata.name === name)?.metadata.uid
      const before = await uidOf()
      const setMode = (isRunning: boolean) => {
        const spec = modes[version][isRunning ? 'running' : 'suspended']
        return bench.api.request({ verb: 'patch', patch: 'merge', ...target('sandboxes', name), body: { spec } })
      }
      await setMode(false)
      const suspended = await waitForReady('asleep', false)
      expect(readyOf(suspended)?.reason).toBe('SandboxSuspended')
      await waitFor(async () => (await uidOf()) === undefined, 'its pod is gone')
      await setMode(true)
      await waitForReady('asleep', true)
      expect(await uidOf()).not.toBe(before)
      await bench.api.request({ verb: 'delete', ...target('sandboxclaims', 'asleep') })
    })
  })
}
