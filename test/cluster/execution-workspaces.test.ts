// Execution workspaces by agent-sandbox on a real cluster: pods that really run, behind a double of its controller.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemIds as ids } from '../../src/lib/system-clock.ts'
import type { ExecutionWorkspaces, WorkspaceClaim } from '../../src/ports/workspaces/execution-workspaces.ts'
import { WorkspaceError } from '../../src/ports/workspaces/execution-workspaces.ts'
import { createRouterShell } from '../../src/runtime/agent-sandbox/router-shell.ts'
import { pods } from '../../src/runtime/jobs/objects.ts'
import { describeExecutionWorkspaces } from '../contracts/execution-workspaces.contract.ts'
import { uninstall, type Version } from '../fixtures/agent-sandbox/definitions.ts'
import { startRouter } from '../fixtures/agent-sandbox/router.ts'
import { describeOnCluster, openProxiedApi } from '../fixtures/cluster.ts'
import { pause, waitFor } from '../fixtures/time.ts'
import { describeDouble } from './agent-sandbox-double.suite.ts'
import {
  collectionOf,
  isInstalled,
  keepFiles,
  openSandboxes,
  type SandboxesBench,
  shellCommand,
  withRuntime,
} from './sandboxes-bench.ts'
import { openApi } from './workloads-bench.ts'

const readyMs = 60_000
const never = new AbortController().signal

const wait = (workspaces: ExecutionWorkspaces, claim: WorkspaceClaim, timeoutMs = readyMs) =>
  workspaces.waitUntilReady(claim, { timeoutMs, signal: never })

async function failureOf(work: Promise<unknown>): Promise<WorkspaceError> {
  const error = await work.then(
    () => undefined,
    (failure: unknown) => failure,
  )
  expect(error).toBeInstanceOf(WorkspaceError)
  return error as WorkspaceError
}

async function finish(workspaces: ExecutionWorkspaces, claim: WorkspaceClaim, id: string) {
  for (;;) {
    const state = await workspaces.observeCommand(claim, id)
    if (state.phase !== 'Running') return state
    await pause(50)
  }
}

async function run(workspaces: ExecutionWorkspaces, claim: WorkspaceClaim, script: string) {
  const command = shellCommand(`c-${ids.hex(6)}`, script)
  await workspaces.start(claim, command)
  return finish(workspaces, claim, command.id)
}

async function make(workspaces: ExecutionWorkspaces, claim: WorkspaceClaim) {
  await workspaces.claim(claim)
  return wait(workspaces, claim)
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

/** Nothing is there besides what waits in pools. */
async function expectNothingLeft(bench: SandboxesBench): Promise<void> {
  expect(await collect(bench.workspaces.list())).toEqual([])
  expect(await bench.list('sandboxclaims')).toEqual([])
  const pooled = new Set(
    (await bench.list('sandboxes'))
      .filter(({ metadata }) => metadata.ownerReferences?.[0]?.kind === 'SandboxWarmPool')
      .map(({ metadata }) => metadata.name),
  )
  let left: string[] = []
  const isClean = async () => {
    const all = [...(await bench.list('sandboxes')), ...(await bench.listPods())].map(({ metadata }) => metadata)
    left = all.map(({ name }) => name).filter((name) => !pooled.has(name) && !name.startsWith('warm-'))
    return left.length === 0
  }
  // The kubelet takes its time for many pods.
  await waitFor(isClean, 'no sandbox and no pod is left', 180_000).catch((error: unknown) => {
    throw new Error(`${error}: ${left.join(', ')}`)
  })
}

describeOnCluster('agent-sandbox', () => {
  afterAll(async () => {
    const api = await openApi()
    if (!isInstalled) await uninstall(api)
    await api.close()
  })

  const old: Version = 'v1alpha1'
  describe.skipIf(isInstalled)(`an old installation, which serves ${old} only`, () => {
    describeDouble(old, (name) => ({ sandboxTemplateRef: { name: name === 'warm' ? 'plain' : name } }))

    it('is used as it is: claims name the template, suspended sandboxes have no replicas', async () => {
      const bench = await openSandboxes(old, { volumeCount: 2 })
      const { namespace } = bench
      await bench.addTemplate('lasting', keepFiles(namespace))
      const claim = bench.claimOf('lasting')
      await make(bench.workspaces, claim)
      const specs = async () => (await bench.list('sandboxclaims')).map(({ spec }) => spec)
      expect(await specs()).toEqual([{ sandboxTemplateRef: { name: 'lasting' }, warmpool: 'none' }])
      await run(bench.workspaces, claim, 'echo kept >kept')
      await bench.workspaces.suspend(claim)
      expect(await bench.workspaces.observe(claim)).toEqual({ phase: 'Suspended' })
      expect(await bench.listPods()).toEqual([])
      expect(await wait(bench.workspaces, claim)).toMatchObject({ reused: true, resumeMs: expect.any(Number) })
      expect(await run(bench.workspaces, claim, 'cat kept')).toMatchObject({ stdout: 'kept\n' })
      await bench.workspaces.delete(claim)
      await bench.addTemplate('plain')
      await bench.addPool('warm', 'plain', 1)
      const [waiting] = await bench.listPods()
      const warm = bench.openWorkspaces({ warmPoolPolicy: 'template' })
      const quick = bench.claimOf('plain')
      await make(warm, quick)
      expect(await specs()).toEqual([{ sandboxTemplateRef: { name: 'plain' }, warmpool: 'default' }])
      const [given] = await bench.list('sandboxclaims')
      expect(given?.status.sandbox.name).toBe(waiting?.metadata.name)
      const missing = await failureOf(warm.claim(bench.claimOf('none')))
      expect(missing).toMatchObject({ reason: 'TemplateNotFound', message: expect.stringContaining('none') })
      await warm.delete(quick)
      await expectNothingLeft(bench)
      await bench.close()
    })

    it('says what to install on a cluster without it', async () => {
      const bench = await openSandboxes(old)
      await bench.addTemplate('plain')
      const claim = bench.claimOf('plain')
      await bench.workspaces.claim(claim)
      await uninstall(bench.api)
      for (const workspaces of [bench.workspaces, bench.openWorkspaces()]) {
        const error = await failureOf(workspaces.claim(claim))
        expect(error).toMatchObject({
          reason: 'ProviderUnavailable',
          message: expect.stringContaining('not installed'),
        })
      }
      await bench.close()
    })
  })

  describeDouble('v1beta1', (name) => ({ warmPoolRef: { name } }))

  describeExecutionWorkspaces('agent-sandbox', async () => {
    const bench = await openSandboxes('v1beta1', { volumeCount: 30 })
    const { namespace, close } = bench
    await bench.addTemplate('lasting', keepFiles(namespace))
    const workspaces = bench.openWorkspaces({ graceSeconds: 1 })
    return { workspaces, namespace, template: { namespace, name: 'lasting' }, readyMs, close }
  })

  describe('what a claim is given', () => {
    let bench: SandboxesBench
    beforeAll(async () => {
      bench = await openSandboxes('v1beta1')
      await bench.addTemplate('plain')
      await bench.addPool('warm', 'plain', 1)
    })
    afterAll(() => bench?.close())

    const sandboxOf = async ({ name }: WorkspaceClaim): Promise<string> =>
      (await bench.list('sandboxclaims')).find(({ metadata }) => metadata.name === name)?.status?.sandbox?.name

    it('is a sandbox that waits in a pool of its template; a pool that is too small keeps nobody from one', async () => {
      const [waiting] = (await bench.listPods()).map(({ metadata }) => metadata.name)
      const workspaces = bench.openWorkspaces({ warmPoolPolicy: 'template' })
      const claims = [bench.claimOf('plain'), bench.claimOf('plain'), bench.claimOf('plain')]
      for (const claim of claims) await workspaces.claim(claim)
      await Promise.all(claims.map((claim) => wait(workspaces, claim)))
      const given = await Promise.all(claims.map(sandboxOf))
      expect(given[0]).toBe(waiting)
      expect(new Set(given).size).toBe(3)
      for (const claim of claims) {
        expect(await run(workspaces, claim, 'echo here')).toMatchObject({ exitCode: 0, stdout: 'here\n' })
      }
      await Promise.all(claims.map((claim) => workspaces.delete(claim)))
      await expectNothingLeft(bench)
    })

    it('is a sandbox of its own where pools are not to be used, and by the name of a pool its template', async () => {
      const byTemplate = bench.claimOf('plain')
      const byPool = bench.claimOf('warm')
      await Promise.all([byTemplate, byPool].map((claim) => make(bench.workspaces, claim)))
      expect(await sandboxOf(byTemplate)).toBe(byTemplate.name)
      expect(await sandboxOf(byPool)).toBe(byPool.name)
      const cold = (await bench.list('sandboxwarmpools')).find(({ metadata }) => metadata.name === 'svc-cold-plain')
      expect(cold?.spec).toMatchObject({ replicas: 0 })
      expect(cold?.metadata.ownerReferences).toMatchObject([{ kind: 'SandboxTemplate', name: 'plain' }])
      await Promise.all([byTemplate, byPool].map((claim) => bench.workspaces.delete(claim)))
      await expectNothingLeft(bench)
    })

    it('comes when somebody else has released theirs, where no more may run', async () => {
      const collection = { group: '', version: 'v1', plural: 'resourcequotas' }
      const { namespace } = bench
      const waitingPods = async () => (await bench.listPods()).length
      await waitFor(async () => (await waitingPods()) === 1, 'only the pool has a pod')
      const body = { metadata: { name: 'small' }, spec: { hard: { pods: '2' } } }
      await bench.api.request({ verb: 'create', collection, namespace, body })
      await waitFor(async () => {
        const { items } = await bench.api.request<{ items: { status?: { used?: { pods?: string } } }[] }>({
          verb: 'list',
          collection,
          namespace,
        })
        return items[0]?.status?.used?.pods === '1'
      }, 'the quota counts')
      const [first, second, third] = [bench.claimOf('plain'), bench.claimOf('plain'), bench.claimOf('plain')]
      await make(bench.workspaces, first)
      for (const claim of [second, third]) await bench.workspaces.claim(claim)
      const ready = [second, third].map((claim) => wait(bench.workspaces, claim).then(() => claim))
      expect(await failureOf(wait(bench.workspaces, second, 500))).toMatchObject({ reason: 'ClaimTimeout' })
      expect(await bench.workspaces.observe(second)).toMatchObject({ phase: 'Pending' })
      await bench.workspaces.delete(first)
      const next = await Promise.race(ready)
      await bench.workspaces.delete(next)
      const [last] = await Promise.all(ready.filter((_, at) => [second, third][at] !== next))
      await bench.workspaces.delete(last ?? third)
      await bench.api.request({ verb: 'delete', collection, namespace, name: 'small' })
      await expectNothingLeft(bench)
    })
  })

  describe('what can go wrong', () => {
    let bench: SandboxesBench
    beforeAll(async () => {
      bench = await openSandboxes('v1beta1')
      await bench.addTemplate('plain')
    })
    afterAll(() => bench?.close())

    const endPod = async ({ name }: WorkspaceClaim) => {
      const { namespace } = bench
      const query = { gracePeriodSeconds: 0 }
      await bench.api.request({ verb: 'delete', collection: pods, namespace, name, query })
    }

    it('a template that is of another namespace, has no container, shares the processes of its node or is on its way out', async () => {
      const elsewhere = { ...bench.claimOf('plain'), template: { namespace: 'elsewhere', name: 'plain' } }
      const message = expect.stringContaining('another namespace')
      expect(await failureOf(bench.workspaces.claim(elsewhere))).toMatchObject({
        reason: 'TemplateIncompatible',
        message,
      })
      await bench.addTemplate('empty', { pod: { containers: [] } })
      expect(await failureOf(bench.workspaces.claim(bench.claimOf('empty')))).toMatchObject({
        reason: 'TemplateIncompatible',
        message: expect.stringContaining('no container'),
      })
      await bench.addTemplate('host', { pod: { hostPID: true } })
      expect(await failureOf(bench.workspaces.claim(bench.claimOf('host')))).toMatchObject({
        reason: 'TemplateIncompatible',
        message: expect.stringContaining('hostPID'),
      })
      await bench.addTemplate('ending')
      const target = {
        collection: collectionOf('v1beta1', 'sandboxtemplates'),
        namespace: bench.namespace,
        name: 'ending',
      }
      const hold = (finalizers: string[]) =>
        bench.api.request({ verb: 'patch', patch: 'merge', ...target, body: { metadata: { finalizers } } })
      await hold(['svc.ai/test'])
      await bench.api.request({ verb: 'delete', ...target })
      expect(await failureOf(bench.workspaces.claim(bench.claimOf('ending')))).toMatchObject({
        reason: 'TemplateNotReady',
        message: expect.stringContaining('being deleted'),
      })
      await hold([])
      expect(await bench.list('sandboxclaims')).toEqual([])
    })

    it('an image without a shell, one without node, and one that ends by itself', async () => {
      await bench.addTemplate('bare', {
        container: {
          command: [
            '/usr/local/bin/node',
            '-e',
            'process.on("SIGTERM", () => process.exit()); setInterval(() => 0, 1e6)',
          ],
          volumeMounts: [{ name: 'nothing', mountPath: '/usr/bin' }],
        },
        pod: { volumes: [{ name: 'nothing', emptyDir: {} }] },
      })
      const withoutNode = { env: [{ name: 'PATH', value: '/usr/bin:/bin' }] }
      await bench.addTemplate('nodeless', { container: withoutNode })
      const nodeless = bench.claimOf('nodeless')
      await bench.workspaces.claim(nodeless)
      expect(await failureOf(wait(bench.workspaces, nodeless))).toMatchObject({
        reason: 'TemplateIncompatible',
        message: 'the image of the sandbox lacks node',
      })
      await bench.workspaces.delete(nodeless)
      await bench.addTemplate('short', { container: { command: ['true'] }, pod: { restartPolicy: 'Never' } })
      const [bare, short] = [bench.claimOf('bare'), bench.claimOf('short')]
      await Promise.all([bare, short].map((claim) => bench.workspaces.claim(claim)))
      expect(await failureOf(wait(bench.workspaces, bare))).toMatchObject({
        reason: 'TemplateIncompatible',
        message: expect.stringContaining('/bin/sh'),
      })
      expect(await failureOf(wait(bench.workspaces, short))).toMatchObject({
        reason: 'WorkspaceLost',
        message: expect.stringContaining('PodSucceeded'),
      })
      await Promise.all([bare, short].map((claim) => bench.workspaces.delete(claim)))
      await expectNothingLeft(bench)
    })

    it('a lasting volume that its user may not write to, rather than files that go with the pod', async () => {
      const own = await openSandboxes('v1beta1', { volumeCount: 1 })
      const { container, spec = {} } = keepFiles(own.namespace)
      await own.addTemplate('owned', { container: { ...container, securityContext: { runAsUser: 1000 } }, spec })
      const claim = own.claimOf('owned')
      await own.workspaces.claim(claim)
      expect(await failureOf(wait(own.workspaces, claim))).toMatchObject({
        reason: 'TemplateIncompatible',
        message: expect.stringContaining('fsGroup'),
      })
      await own.close()
    })

    it('a sandbox that is not ready in time: it says what it waited for, and nothing is left of it', async () => {
      await bench.addTemplate('nowhere', { pod: { nodeSelector: { 'svc.ai/none': 'x' } } })
      await bench.addTemplate('imageless', { container: { image: 'svc-test-no-such-image:1' } })
      const claims = [bench.claimOf('nowhere'), bench.claimOf('imageless')]
      await Promise.all(claims.map((claim) => bench.workspaces.claim(claim)))
      const isTold = async () => {
        const [one, two] = await bench.listPods()
        return (
          one?.status?.conditions !== undefined && two?.status?.containerStatuses?.[0]?.state?.waiting !== undefined
        )
      }
      await waitFor(async () => (await isTold()) || (await bench.listPods()).length === 2, 'both have pods')
      const failures = await Promise.all(claims.map((claim) => failureOf(wait(bench.workspaces, claim, 3000))))
      expect(failures.map(({ reason }) => reason)).toEqual(['ClaimTimeout', 'ClaimTimeout'])
      expect(failures[0]?.message).toContain('affinity/selector')
      expect(failures[1]?.message).toContain('ErrImageNeverPull')
      await Promise.all(claims.map((claim) => bench.workspaces.delete(claim)))
      await expectNothingLeft(bench)
    })

    it('a pod that is killed in mid-command: the command is not taken for running, and the workspace can be had again', async () => {
      const claim = bench.claimOf('plain')
      await make(bench.workspaces, claim)
      const command = shellCommand('long', 'sleep 600')
      await bench.workspaces.start(claim, command)
      expect(await bench.workspaces.observeCommand(claim, 'long')).toEqual({ phase: 'Running' })
      await endPod(claim)
      const isKnown = async () => {
        const state = await bench.workspaces.observeCommand(claim, 'long').catch((error: unknown) => error)
        if (state instanceof WorkspaceError) return state.reason === 'WorkspaceLost'
        return (state as { phase: string }).phase === 'Missing'
      }
      await waitFor(isKnown, 'the command is known to be gone')
      await waitFor(async () => (await bench.workspaces.observe(claim)).phase === 'Ready', 'there is another pod')
      const early = await failureOf(bench.workspaces.start(claim, shellCommand('early', 'true')))
      expect(early.reason).toBe('WorkspaceLost')
      expect((await wait(bench.workspaces, claim)).reused).toBe(true)
      expect(await run(bench.workspaces, claim, 'echo again')).toMatchObject({ stdout: 'again\n' })
      await bench.workspaces.delete(claim)
      expect(await failureOf(bench.workspaces.stage(claim, []))).toMatchObject({ reason: 'WorkspaceLost' })
    })

    it('a program that writes into the notes of the service', async () => {
      const claim = bench.claimOf('plain')
      await make(bench.workspaces, claim)
      const command = shellCommand('liar', 'echo nonsense >/tmp/.svc-workspace/commands/liar/bytes')
      await bench.workspaces.start(claim, command)
      expect(await failureOf(finish(bench.workspaces, claim, 'liar'))).toMatchObject({ reason: 'ProtocolError' })
      await bench.workspaces.scrub(claim, [])
      expect(await run(bench.workspaces, claim, 'echo fine')).toMatchObject({ stdout: 'fine\n' })
      await bench.workspaces.delete(claim)
    })

    it('a program that ends the shell of the service, or speaks in its place', async () => {
      const claim = bench.claimOf('plain')
      await make(bench.workspaces, claim)
      // What a shell has started looks like it for a moment, or for as long as it waits: only the shell itself comes from outside.
      const isShell = 'grep -qsa "answer [$]code" $at/cmdline && grep -qs "^PPid:.0$" $at/status'
      const findShell = `for at in /proc/[0-9]*; do ${isShell} && basename $at; done`
      const listShells = async () => {
        const found = await run(bench.workspaces, claim, findShell)
        return found.phase === 'Ended' ? found.stdout.trim().split('\n').filter(Boolean) : []
      }
      const shells = await listShells()
      expect(shells).toEqual([expect.stringMatching(/^[0-9]+$/)])
      await bench.workspaces.start(claim, shellCommand('killer', `kill -KILL ${shells[0]}; echo done; sleep 600`))
      expect(await bench.workspaces.observeCommand(claim, 'killer')).toEqual({ phase: 'Running' })
      // A look that is under way when the shell is killed is answered by a shell for it alone.
      const findNext = async () => (await listShells()).find((shell) => shell !== shells[0])
      const next = await waitFor(findNext, 'another shell is there')
      // While a script runs the shell's output is a file, where the lie is lost: it is told until the shell is gone.
      const lie = `echo 'answer 0 9 9' >/proc/${next}/fd/1`
      const liar = `sleep 1; while [ -d /proc/${next} ]; do ${lie}; sleep 0.1; done 2>/dev/null`
      await bench.workspaces.start(claim, shellCommand('liar', liar))
      // A look that is under way at that moment is answered by the liar.
      const isOver = () =>
        bench.workspaces.observeCommand(claim, 'liar').then(
          ({ phase }) => phase === 'Ended',
          (error: WorkspaceError) => error.reason !== 'ProtocolError' && Promise.reject(error),
        )
      await waitFor(isOver, 'the shell that was spoken for is gone')
      const after = await listShells()
      expect(after).toEqual([expect.stringMatching(/^[0-9]+$/)])
      expect(after).not.toContain(next)
      expect(await run(bench.workspaces, claim, 'echo fine')).toMatchObject({ stdout: 'fine\n' })
      await bench.workspaces.scrub(claim, [])
      await bench.workspaces.delete(claim)
    })

    it('an API server that does not answer, and answers again', async () => {
      const { api, proxy } = await openProxiedApi()
      const workspaces = bench.openWorkspaces({ api })
      const claim = bench.claimOf('plain')
      expect(await workspaces.observe(claim)).toEqual({ phase: 'Absent' })
      await proxy.stop()
      expect(await failureOf(workspaces.claim(claim))).toMatchObject({ reason: 'ProviderUnavailable' })
      await proxy.start()
      await workspaces.claim(claim)
      const ready = wait(workspaces, claim)
      proxy.cut()
      await ready
      await workspaces.delete(claim)
      await api.close()
      await proxy.stop()
    })

    it('a claim of the same name that is not ours', async () => {
      const claim = bench.claimOf('plain')
      const other = bench.openWorkspaces({ instance: 'another' })
      await other.claim(claim)
      expect(await failureOf(bench.workspaces.claim(claim))).toMatchObject({
        reason: 'ProtocolError',
        message: expect.stringContaining('not of this service'),
      })
      await other.delete(claim)
    })

    it('a service that is restarted in every phase', async () => {
      const next = () => bench.openWorkspaces({ graceSeconds: 1 })
      const claim = bench.claimOf('plain')
      const waiting = new AbortController()
      await next().claim(claim)
      const cut = next().waitUntilReady(claim, { timeoutMs: readyMs, signal: waiting.signal })
      waiting.abort(new Error('the service is stopping'))
      await failureOf(cut)
      await next().claim(claim)
      await wait(next(), claim)
      await next().stage(claim, [{ path: 'in/file', bytes: Buffer.from('staged'), mode: 0o600 }])
      await next().start(claim, shellCommand('one', 'cat in/file; until [ -f go ]; do sleep 0.1; done; echo went'))
      expect(await next().observeCommand(claim, 'one')).toEqual({ phase: 'Running' })
      await next().stage(claim, [{ path: 'go', bytes: Buffer.alloc(0), mode: 0o600 }])
      expect(await finish(next(), claim, 'one')).toMatchObject({ exitCode: 0, stdout: 'stagedwent\n' })
      await next().start(claim, shellCommand('two', 'sleep 600'))
      await next().stop(claim, 'two')
      expect(await next().observeCommand(claim, 'two')).toMatchObject({ phase: 'Ended', exitCode: 143 })
      await next().scrub(claim, ['in'])
      expect(await run(next(), claim, 'ls')).toMatchObject({ stdout: 'go\n' })
      const listed = await collect(next().list())
      expect(listed.map((each) => each.claim)).toEqual([claim])
      await next().delete(claim)
      await expectNothingLeft(bench)
    })

    const rounds = Number(process.env.SVC_TEST_WORKSPACE_ROUNDS ?? 24)
    it(`${rounds} overlapping rounds of claim, run and release, with a fault in every phase, leave nothing`, async () => {
      const faults: ((claim: WorkspaceClaim) => Promise<unknown>)[] = [
        async (claim) => {
          await make(bench.workspaces, claim)
          expect(await run(bench.workspaces, claim, 'echo fine')).toMatchObject({ stdout: 'fine\n' })
        },
        // Nobody waits for it any more.
        (claim) => bench.workspaces.claim(claim),
        async (claim) => {
          await bench.workspaces.claim(claim)
          await failureOf(wait(bench.workspaces, claim, 10))
        },
        async (claim) => {
          await make(bench.workspaces, claim)
          await bench.workspaces.start(claim, shellCommand('left', 'setsid sleep 600 & sleep 600'))
          await endPod(claim)
        },
        async (claim) => {
          await make(bench.workspaces, claim)
          await bench.workspaces.start(claim, shellCommand('left', 'sleep 600'))
          await bench.openWorkspaces({ graceSeconds: 1 }).scrub(claim, [])
        },
        async (claim) => {
          await make(bench.workspaces, claim)
          const { namespace } = bench
          const { name } = claim
          await bench.api.request({ verb: 'delete', collection: collectionOf('v1beta1', 'sandboxes'), namespace, name })
        },
      ]
      let next = 0
      const work = async () => {
        for (let at = next++; at < rounds; at = next++) {
          const claim = bench.claimOf('plain')
          await faults[at % faults.length]?.(claim)
          await bench.openWorkspaces().delete(claim)
        }
      }
      await Promise.all(Array.from({ length: 6 }, work))
      await expectNothingLeft(bench)
    }, 600_000)
  })

  describe('commands through the router', () => {
    let bench: SandboxesBench
    beforeAll(async () => {
      bench = await openSandboxes('v1beta1')
      await bench.addTemplate('runtime', withRuntime)
    })
    afterAll(() => bench?.close())

    it('do what they do without it, until it is away', async () => {
      const token = ids.hex(16)
      const router = await startRouter({ token })
      const shell = createRouterShell({ url: router.url, token, fetch, ids })
      const workspaces = bench.openWorkspaces({ shell, graceSeconds: 1 })
      const claim = bench.claimOf('runtime')
      await make(workspaces, claim)
      const bytes = Buffer.from(Array.from({ length: 1000 }, (_none, at) => at % 256))
      await workspaces.stage(claim, [{ path: 'some/raw', bytes, mode: 0o600 }])
      const read = await run(workspaces, claim, `base64 -w0 some/raw; echo "it's done" >&2; exit 7`)
      expect(read).toMatchObject({ exitCode: 7, stdout: bytes.toString('base64'), stderr: "it's done\n" })
      await workspaces.start(claim, shellCommand('long', 'sleep 600'))
      expect(await workspaces.observeCommand(claim, 'long')).toEqual({ phase: 'Running' })
      await workspaces.stop(claim, 'long')
      expect(await workspaces.observeCommand(claim, 'long')).toMatchObject({ phase: 'Ended', exitCode: 143 })
      await workspaces.start(claim, shellCommand('left', 'env -i setsid sleep 600 & exit 0'))
      await finish(workspaces, claim, 'left')
      await workspaces.scrub(claim, ['some'])
      // Each look at a command has a file of its own for a moment; none of them stays.
      const stays =
        'seen=$(ls -A /app); sleep 1; for name in $seen; do [ ! -e "/app/$name" ] || echo "stays: $name"; done'
      const seen = await run(workspaces, claim, `ls -A .; ${stays}; cat /proc/*/cmdline | tr "\\0" " "`)
      expect(seen).toMatchObject({ stdout: expect.not.stringMatching(/raw|sleep 600|stays: \.svc-[0-9a-f]/) })
      expect(new Set(router.paths)).toEqual(new Set(['/upload', '/execute']))
      const stranger = createRouterShell({ url: router.url, token: 'wrong', fetch, ids })
      expect(await failureOf(bench.openWorkspaces({ shell: stranger }).stage(claim, []))).toMatchObject({
        reason: 'ProviderUnavailable',
      })
      await router.close()
      expect(await failureOf(workspaces.observeCommand(claim, 'long'))).toMatchObject({ reason: 'ProviderUnavailable' })
      await workspaces.delete(claim)
    })
  })
})
