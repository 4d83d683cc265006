// code_exec on a real cluster: each run in a pod of its own, with nothing of the service in it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectFromKubeconfig } from '../../src/cluster/api/connection.ts'
import type { KubernetesApi } from '../../src/cluster/api.ts'
import { systemClock, systemIds } from '../../src/lib/system-clock.ts'
import { createKubernetesSandbox, type KubernetesSandbox } from '../../src/runtime/code-pods/sandbox.ts'
import { networkPolicies, type Pod, pods } from '../../src/runtime/jobs/objects.ts'
import { describeSandbox } from '../contracts/sandbox.contract.ts'
import { describeOnCluster } from '../fixtures/cluster.ts'
import { waitFor } from '../fixtures/time.ts'
import { createNamespace, namespaces, openApi, testImage } from './workloads-bench.ts'

const mebibyte = 1024 ** 2

async function openSandbox() {
  const api = await openApi()
  const namespace = await createNamespace(api, 'sandbox')
  const sandbox = createKubernetesSandbox({
    api,
    clock: systemClock,
    ids: systemIds,
    namespace,
    instance: namespace,
    connection: await connectFromKubeconfig(),
    image: testImage,
    log: { warn: () => undefined },
    memoryBytes: 128 * mebibyte,
    diskBytes: 4 * mebibyte,
  })
  const close = async () => {
    await sandbox.close()
    await api.request({ verb: 'delete', collection: namespaces, name: namespace })
    await api.close()
  }
  return { api, namespace, sandbox, close }
}

describeOnCluster('sandboxes on a cluster', () => {
  describeSandbox('pods', async () => {
    const { sandbox, close } = await openSandbox()
    return { sandbox, close, kind: 'pod', startMs: 10_000, noFolders: 'a pod sees no folder of this machine' }
  })

  describe('a sandbox pod', () => {
    let bench: { api: KubernetesApi; namespace: string; sandbox: KubernetesSandbox; close(): Promise<void> }
    beforeAll(async () => {
      bench = await openSandbox()
    })
    afterAll(() => bench.close())

    const limits = {
      timeoutMs: 60_000,
      memoryBytes: 128 * mebibyte,
      cpuSeconds: 10,
      processes: 32,
      outputBytes: 64 * 1024,
      diskBytes: 4 * mebibyte,
    }
    const run = (script: string) =>
      bench.sandbox.run({ argv: ['bash', '-c', script], limits }, new AbortController().signal)
    const list = async () => {
      const { namespace } = bench
      const answer = await bench.api.request<{ items: Pod[] }>({ verb: 'list', collection: pods, namespace })
      return answer.items
    }

    it('has no credential of the cluster, and no address of its API [BUILT-024]', async () => {
      const looks = 'ls -R /var/run/secrets /run/secrets 2>&1; env; cat /proc/self/environ'
      const { stdout } = await run(looks)
      expect(stdout).toContain('No such file or directory')
      expect(stdout).not.toMatch(/KUBERNETES|token|serviceaccount\/token/)
    })

    it('sees no file of a worker: neither its assignment nor its token [BUILT-024]', async () => {
      const looks = ['/run/svc/assignment', '/run/svc/token', '/secrets']
      const { stdout } = await run(looks.map((path) => `ls ${path} 2>/dev/null`).join('; '))
      expect(stdout).toBe('')
      expect((await run('ls /run/svc')).stdout).toBe('input\n')
    })

    it('has no service account and no secret, and a policy that selects it cuts it off from the network [BUILT-024]', async () => {
      await run('true')
      const pod = await waitFor(async () => (await list())[0], 'a pod waits')
      const spec = pod.spec as Record<string, unknown> & { volumes: Record<string, unknown>[] }
      expect(spec.automountServiceAccountToken).toBe(false)
      expect(spec.volumes.every((volume) => 'emptyDir' in volume)).toBe(true)
      const { namespace } = bench
      type Policy = { spec: { podSelector: { matchLabels: Record<string, string> }; policyTypes: string[] } }
      const name = `${namespace}-sandboxes`
      const policy = await bench.api.request<Policy>({ verb: 'get', collection: networkPolicies, namespace, name })
      expect(pod.metadata.labels).toMatchObject(policy.spec.podSelector.matchLabels)
      expect(policy.spec).toMatchObject({ policyTypes: ['Ingress', 'Egress'] })
      expect(policy.spec).not.toHaveProperty('ingress')
      expect(policy.spec).not.toHaveProperty('egress')
    })

    it('receives the files of a workspace, and returns the changes', async () => {
      const workspaceFiles = [
        { path: 'in/data.txt', bytes: Buffer.from('three') },
        { path: 'gone', bytes: Buffer.alloc(0) },
        { path: 'same', bytes: Buffer.from([0, 1, 255]) },
      ]
      const script =
        'cat in/data.txt; rm gone; mkdir out; printf "$(cat in/data.txt) more" > out/new; ln -s /etc out/etc'
      const command = { argv: ['bash', '-c', script], workspaceFiles, limits }
      const outcome = await bench.sandbox.run(command, new AbortController().signal)
      expect(outcome).toMatchObject({ exitCode: 0, stdout: 'three' })
      expect(outcome.changes).toEqual({
        written: [{ path: 'out/new', bytes: Buffer.from('three more') }],
        removed: ['gone'],
      })
    })

    it('keeps what a run wrote until its timeout, and says when that is too much to bring back', async () => {
      const none = { workspaceFiles: [] }
      const slow = {
        argv: ['bash', '-c', 'echo begun > log; sleep 60'],
        limits: { ...limits, timeoutMs: 10_000 },
        ...none,
      }
      const outcome = await bench.sandbox.run(slow, new AbortController().signal)
      expect(outcome).toMatchObject({ timedOut: true, changes: { written: [{ path: 'log' }], removed: [] } })
      const many = { argv: ['bash', '-c', 'for n in {1..1200}; do : > $n; done'], limits, ...none }
      const lost = await bench.sandbox.run(many, new AbortController().signal)
      expect(lost).toMatchObject({ exitCode: 0, changesLost: expect.stringContaining('1000 files') })
    })

    it('is used once: the next command gets another pod, and the first is deleted', async () => {
      const name = async () =>
        (await run('cat /proc/sys/kernel/random/uuid > /tmp/mark; cat /proc/1/cpuset /tmp/mark')).stdout
      const before = (await list()).map(({ metadata }) => metadata.name)
      const [first, second] = [await name(), await name()]
      expect(first).not.toBe(second)
      await waitFor(async () => {
        const now = (await list()).map(({ metadata }) => metadata.name)
        return before.some((pod) => !now.includes(pod))
      }, 'the pods that ran are gone')
    })

    it('leaves no pod when it is closed', async () => {
      await bench.sandbox.close()
      await waitFor(async () => (await list()).length === 0, 'all pods are gone')
    })
  })
})
