// Agent tasks in sandboxes of a cluster, from end to end: two replicas of the chart's installation, the double of
// agent-sandbox's controller, the service's image in the sandboxes; and what breaks around them.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  type gates,
  installWithSandboxes,
  makeTask,
  makeTemplate,
  type SandboxInstallation,
  type ShownTask,
  startKiller,
} from '../fixtures/agent-sandbox/installation.ts'
import { describeOnCluster } from '../fixtures/cluster.ts'
import { findObstacle } from '../fixtures/installation.ts'
import { kubectl } from '../fixtures/kubectl.ts'
import { waitFor } from '../fixtures/time.ts'

const image = process.env.SVC_TEST_IMAGE ?? ''
const obstacle = findObstacle(image)

/** Tells how often it was started where it works; the second one ends once the test lets it go. */
const brief = 'echo begun >>begun; cat begun'
const held = 'echo begun >>begun; until [ -e go ]; do sleep 0.05; done; cat begun'
const everyNode = ['--selector', 'kubernetes.io/hostname']
const kept = { reusePolicy: 'session', cleanupPolicy: 'retain' }
const deleted = { phase: 'Deleted', reason: 'WorkspaceDeleted' }

describeOnCluster(`tasks in sandboxes${obstacle === undefined ? '' : ` (skipped: ${obstacle})`}`, () => {
  if (obstacle !== undefined) return it.skip(obstacle, () => undefined)
  let sandboxes: SandboxInstallation
  let killProcesses: (pod: string) => Promise<void>

  beforeAll(async () => {
    sandboxes = await installWithSandboxes(image)
    killProcesses = await startKiller(sandboxes.service.namespace, image)
  }, 300_000)
  afterAll(() => sandboxes?.remove(), 180_000)

  async function expectNothingLeft(): Promise<void> {
    let left: string[] = []
    const isClean = async () => {
      left = await sandboxes.listLeft()
      return left.length === 0
    }
    await waitFor(isClean, 'nothing is left', 120_000).catch((error: unknown) => {
      throw new Error(`${error}: ${left.join(', ')}`)
    })
  }

  async function release(): Promise<void> {
    const { service } = sandboxes
    const { body } = await service.call<{ items: { name: string }[] }>(
      'GET',
      `/api/v1/workspaces?namespace=${service.tasks}`,
    )
    for (const { name } of body.items) {
      await service.call('DELETE', `/api/v1/workspaces/${name}?namespace=${service.tasks}`)
    }
  }

  /** It has succeeded, once, in so many attempts. */
  async function expectSuccess(name: string, attempts: number): Promise<string> {
    const { status } = await sandboxes.finish(name)
    expect(status).toMatchObject({ phase: 'Succeeded', attempts })
    expect(status?.retries ?? 0).toBe(0)
    expect(await sandboxes.endsOf(name)).toEqual(['Succeeded'])
    return sandboxes.resultOf(name)
  }
  const shownOf = async (name: string) => (await sandboxes.read(name)).status?.executionWorkspace

  it('a session finds its files in the sandbox that an earlier task left; one that is not kept leaves nothing', async () => {
    const talk = { session: 'talk', workspace: kept }
    await sandboxes.apply(makeTask('first', 'echo kept >note; id -u; ls /var/run/secrets 2>&1', talk))
    const first = await expectSuccess('first', 1)
    expect(first).not.toMatch(/^0$/m)
    expect(first).toContain('No such file')
    expect(await shownOf('first')).toMatchObject({ phase: 'Retained', reused: false })
    await sandboxes.apply(makeTask('second', 'cat note', talk), makeTask('third', 'ls'))
    expect(await expectSuccess('second', 1)).toBe('kept')
    expect(await shownOf('second')).toMatchObject({ phase: 'Retained', reused: true })
    expect(await expectSuccess('third', 1)).not.toContain('note')
    expect(await shownOf('third')).toMatchObject(deleted)
    await waitFor(async () => (await sandboxes.list('sandboxclaims')).length === 1, 'one claim is left')
    await release()
    await expectNothingLeft()
  }, 300_000)

  it('of three tasks at once the first is given what waits in a pool of one; none waits for the pool', async () => {
    const pool = {
      apiVersion: 'extensions.agents.x-k8s.io/v1beta1',
      kind: 'SandboxWarmPool',
      metadata: { name: 'warm' },
    }
    await sandboxes.apply({ ...pool, spec: { replicas: 1, sandboxTemplateRef: { name: 'agents' } } })
    const warm = await waitFor(async () => {
      const [one] = await sandboxes.list('sandboxes')
      const isReady = ['wait', '--for=condition=Ready', `sandbox/${one?.metadata.name}`, '--timeout=1s']
      return one && (await sandboxes.inTasks(isReady).catch(() => '')) !== '' && one.metadata.name
    }, 'the pool to be full')
    const names = ['one', 'two', 'three']
    for (const name of names) await sandboxes.apply(makeTask(name, held))
    await Promise.all(names.map(sandboxes.reach))
    const given = await Promise.all(names.map(sandboxes.podOf))
    expect(given[0]).toBe(warm)
    expect(new Set(given).size).toBe(3)
    await Promise.all(names.map(sandboxes.detach))
    for (const name of names) expect(await expectSuccess(name, 1)).toBe('begun')
    const starts = await Promise.all(names.map(async (name) => (await sandboxes.read(name)).status?.startTime ?? ''))
    expect(starts).toEqual(starts.toSorted())
    await sandboxes.inTasks(['delete', 'sandboxwarmpool', 'warm', '--cascade=foreground'])
    await expectNothingLeft()
  }, 300_000)

  describe('the leader is killed', () => {
    type Gate = keyof typeof gates
    /** A new attempt begins where no command of the first one was started. */
    const phases: [when: string, gate: Gate | undefined, attempts: number][] = [
      ['its sandbox is not ready', 'ready', 2],
      ['the worker is brought', 'staging', 2],
      ['the agent runs', undefined, 1],
    ]

    it.each(phases)(
      'while %s: the task succeeds once, and nothing is left',
      async (when, gate, attempts) => {
        const name = when.replaceAll(' ', '-')
        await sandboxes.apply(
          makeTask(name, gate ? brief : held, gate && { workspace: { templateRef: { name: gate } } }),
        )
        const isPending = () =>
          sandboxes.until(name, 'waits', ({ status }) => status?.executionWorkspace?.reason === 'WorkspaceClaimed')
        await (gate === 'ready' ? isPending() : sandboxes.reach(name))
        await killLeader()
        // The gate of a second attempt is another one.
        const isEnded = async () => {
          await sandboxes.open(name)
          return (await sandboxes.read(name)).status?.phase === 'Succeeded'
        }
        await waitFor(isEnded, `the end of ${name}`, 120_000)
        expect(await expectSuccess(name, attempts)).toBe('begun')
        expect(await shownOf(name)).toMatchObject(deleted)
        await expectNothingLeft()
      },
      300_000,
    )

    it('while what is retained is searched for secrets: the task has succeeded once, and the next of its session finds its files', async () => {
      const asked = { session: 'searched', workspace: { ...kept, templateRef: { name: 'scrubbing' } } }
      await sandboxes.apply(makeTask('searched', 'echo kept >note; cat note', asked))
      await waitFor(() => sandboxes.test('searched', 'test -e /tmp/reached'), 'the search')
      await killLeader()
      await sandboxes.detach('searched')
      expect(await expectSuccess('searched', 1)).toBe('kept')
      expect(await shownOf('searched')).toMatchObject({ phase: 'Retained' })
      await sandboxes.apply(makeTask('next', 'cat note', asked))
      expect(await expectSuccess('next', 1)).toBe('kept')
      await release()
      await expectNothingLeft()
    }, 300_000)

    async function killLeader(): Promise<void> {
      const leader = await waitFor(() => sandboxes.service.leader(), 'a replica that leads')
      await killProcesses(leader)
    }
  })

  describe('its sandbox is taken away while the agent runs', () => {
    afterEach(() => kubectl(['uncordon', ...everyNode]))

    it('by the end of its pod: another attempt has another sandbox', async () => {
      await sandboxes.apply(makeTask('killed', held))
      await sandboxes.reach('killed')
      const pod = await sandboxes.podOf('killed')
      await sandboxes.inTasks(['delete', 'pod', String(pod), '--grace-period=0', '--force'])
      await sandboxes.until('killed', 'is repeated', ({ status }) => status?.attempts === 2)
      await sandboxes.reach('killed')
      expect(await sandboxes.podOf('killed')).not.toBe(pod)
      await sandboxes.detach('killed')
      expect(await expectSuccess('killed', 2)).toBe('begun')
      expect(await shownOf('killed')).toMatchObject(deleted)
      await expectNothingLeft()
    }, 300_000)

    it('by its node, which is drained: another attempt waits until a node takes its sandbox', async () => {
      await sandboxes.apply(makeTask('drained', held))
      await sandboxes.reach('drained')
      const name = String(await sandboxes.podOf('drained'))
      await kubectl(['cordon', ...everyNode])
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } }
      const { tasks } = sandboxes.service
      const path = `/api/v1/namespaces/${tasks}/pods/${name}/eviction`
      await kubectl(['create', '--raw', path, '-f', '-'], { input: JSON.stringify(eviction) })
      const isWaiting = ({ status }: ShownTask) =>
        status?.attempts === 2 && status.executionWorkspace?.reason === 'WorkspaceClaimed'
      await sandboxes.until('drained', 'waits', isWaiting)
      const isUnplaced = async () => (await sandboxes.inTasks(['get', 'pods'])).includes('Pending')
      await waitFor(isUnplaced, 'a pod that no node takes')
      expect((await shownOf('drained'))?.phase).toBe('Pending')
      await kubectl(['uncordon', ...everyNode])
      await sandboxes.reach('drained')
      await sandboxes.detach('drained')
      expect(await expectSuccess('drained', 2)).toBe('begun')
      await expectNothingLeft()
    }, 300_000)

    it('with agent-sandbox itself: another attempt runs once that is there again', async () => {
      const more = { retryPolicy: { maxRetries: 3, initialDelay: '1s' } }
      await sandboxes.apply(makeTask('orphaned', held, { more }))
      await sandboxes.reach('orphaned')
      await sandboxes.closeController()
      await sandboxes.uninstall()
      await waitFor(async () => (await sandboxes.list('pods')).length === 0, 'its pod is gone')
      expect((await sandboxes.read('orphaned')).status?.phase).toBe('Running')
      await sandboxes.installAgain()
      await sandboxes.reach('orphaned')
      await sandboxes.detach('orphaned')
      const { status } = await sandboxes.finish('orphaned')
      expect(status?.phase).toBe('Succeeded')
      expect(await sandboxes.endsOf('orphaned')).toEqual(['Succeeded'])
      expect(await sandboxes.resultOf('orphaned')).toBe('begun')
      await expectNothingLeft()
    }, 600_000)
  })

  describe('its template', () => {
    const once = { retryPolicy: { maxRetries: 0 } }
    const from = (name: string) => ({ workspace: { templateRef: { name } }, more: once })

    it.each(['deleted', 'changed'])(
      'is %s while one task waits and another runs: both go on',
      async (what) => {
        const names = [`waits-${what}`, `runs-${what}`]
        const [waits = '', runs = ''] = names
        await sandboxes.apply(makeTemplate(image, waits, 'ready'), makeTemplate(image, runs))
        await sandboxes.apply(makeTask(waits, brief, from(waits)), makeTask(runs, held, from(runs)))
        await sandboxes.until(waits, 'waits', ({ status }) => status?.executionWorkspace?.reason === 'WorkspaceClaimed')
        await sandboxes.reach(runs)
        await waitFor(() => sandboxes.test(waits, 'true'), 'its pod')
        if (what === 'deleted') await sandboxes.inTasks(['delete', 'sandboxtemplate', ...names])
        else await sandboxes.apply(...names.map((name) => makeTemplate('svc-test-no-such-image:1', name)))
        await Promise.all(names.map(sandboxes.detach))
        for (const name of names) {
          expect(await expectSuccess(name, 1)).toBe('begun')
          expect(await shownOf(name)).toMatchObject(deleted)
        }
        await expectNothingLeft()
      },
      300_000,
    )

    it('is not there, or cannot be used any more: the task fails, says so, and leaves nothing', async () => {
      const hostPID = JSON.stringify({ spec: { podTemplate: { spec: { hostPID: true } } } })
      await sandboxes.apply(makeTemplate(image, 'shared'))
      await sandboxes.inTasks(['patch', 'sandboxtemplate', 'shared', '--type=merge', '-p', hostPID])
      await sandboxes.apply(makeTask('bare', 'true', from('none')), makeTask('exposed', 'true', from('shared')))
      const messages = { bare: 'no SandboxTemplate none', exposed: 'hostPID' }
      for (const [name, message] of Object.entries(messages)) {
        const { status } = await sandboxes.finish(name)
        expect(status).toMatchObject({ phase: 'Failed', message: expect.stringContaining(message) })
        expect(status?.executionWorkspace).toMatchObject({ phase: 'Failed', reason: 'WorkspaceClaimFailed' })
        expect(await sandboxes.endsOf(name)).toEqual(['Failed'])
      }
      await expectNothingLeft()
    }, 300_000)
  })
})
