// Commands and code in containers, on a real engine where one can be run.
import { execFile, execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNetworkGates } from '../../../src/egress/network/gates.ts'
import type { AttemptKey } from '../../../src/ports/tasks/workloads.ts'
import { type Checkout, CheckoutError, type Checkouts } from '../../../src/ports/workspaces/checkouts.ts'
import { containerLabels } from '../../../src/runtime/local/commands/container-command.ts'
import { createContainerEngine } from '../../../src/runtime/local/commands/container-engine.ts'
import { createSandbox } from '../../../src/runtime/local/sandbox/sandbox.ts'
import { makeFolder, removeFolder, testIds } from '../../contracts/embedded-bench.ts'
import { type EmbeddedBench, openEmbeddedBench, workerFixture } from '../../contracts/embedded-workloads-bench.ts'
import { openPodman } from '../../contracts/podman-bench.ts'
import { describeSandbox } from '../../contracts/sandbox.contract.ts'
import { describeWorkloads } from '../../contracts/workloads.contract.ts'
import { waitFor } from '../../fixtures/time.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const apartProgram = join(root, 'test', 'fixtures', 'workspaces-run.ts')

const podman = await openPodman()
afterAll(async () => {
  if (typeof podman !== 'string') await podman.close()
})

const noBubblewrap = Promise.resolve({ available: false as const, reason: 'none in this test', suggestion: 'none' })
const listContainers = (instance: string) =>
  execFileSync('podman', ['ps', '--all', '--quiet', '--filter', `label=${containerLabels.instance}=${instance}`], {
    encoding: 'utf8',
  })
    .split('\n')
    .filter(Boolean)

if (typeof podman === 'string') {
  console.warn(`container tests are skipped: ${podman}`)
  describe.skip(`containers (${podman})`, () => {
    it('are tested where a container engine can run', () => undefined)
  })
} else {
  const { engine, socket, image } = podman
  const openBench = () => ({ ...openEmbeddedBench({ engine, containerNetwork: 'none', graceMs: 1000 }), image })

  describeWorkloads('containers', async () => openBench())

  describeSandbox('container', async () => {
    const scratchRoot = makeFolder('container-sandbox-test')
    const container = { engine, image, instance: scratchRoot, scratchRoot }
    return {
      sandbox: createSandbox({ ids: testIds, bubblewrap: noBubblewrap, container }),
      kind: 'container',
      startMs: 5000,
      close: async () => removeFolder(scratchRoot),
    }
  })

  describe('a container task', () => {
    const start = async (bench: ReturnType<typeof openBench>, script: string, given = image): Promise<AttemptKey> => {
      const key = { taskUid: testIds.next('uid'), attempt: 2 }
      const run = { kind: 'command' as const, image: given, command: ['/bin/sh', '-c', script], args: [], env: {} }
      await bench.workloads.ensure({ key, namespace: 'default', taskName: 'contained', limits: {}, run })
      return key
    }
    const waitForEnd = (bench: Pick<ReturnType<typeof openBench>, 'workloads'>, key: AttemptKey) =>
      waitFor(async () => {
        const state = await bench.workloads.observe(key)
        return (state.phase === 'Failed' || state.phase === 'Succeeded') && state
      }, 'it has ended')

    it('has a read-only root, no capabilities, limits, and its labels [MODE-003]', async () => {
      const bench = openBench()
      const script = 'touch /x 2>&1; touch /tmp/x && echo tmp; cat /proc/self/status; ulimit -n; exec sleep 60'
      const key = await start(bench, script)
      const lines = await waitFor(() => {
        const said = bench.logs.get(key.taskUid) ?? []
        return said.includes('1024') && said
      }, 'it said all')
      const [id = ''] = listContainers(bench.options.instance)
      const [labels] = JSON.parse(
        execFileSync('podman', ['inspect', '--format', '[{{json .Config.Labels}}]', id], { encoding: 'utf8' }),
      )
      expect(labels).toMatchObject({ [containerLabels.taskUid]: key.taskUid, [containerLabels.attempt]: '2' })
      expect(lines.join('\n')).toMatch(/Read-only file system/)
      expect(lines).toContain('tmp')
      expect(lines).toContain('CapEff:\t0000000000000000')
      expect(lines).toContain('NoNewPrivs:\t1')
      await bench.workloads.remove(key)
      expect(listContainers(bench.options.instance)).toEqual([])
      await bench.close()
    })

    it('whose image is unavailable reports the engine’s message', async () => {
      const bench = openBench()
      const state = await waitForEnd(bench, await start(bench, 'true', 'localhost/no-such-image:1'))
      expect(state).toMatchObject({ phase: 'Failed', reason: 'ImageUnavailable' })
      expect(state).toHaveProperty(
        'message',
        expect.stringMatching(/^The image localhost\/no-such-image:1 could not be pulled: .{10,}/),
      )
      await bench.close()
    })

    it('left by an earlier run of the service is removed at the next start', async () => {
      const bench = openBench()
      const { instance } = bench.options
      const left = [
        '--label',
        `${containerLabels.instance}=${instance}`,
        '--network',
        'none',
        image,
        '/bin/sleep',
        '600',
      ]
      execFileSync('podman', [
        '--runtime',
        'runc',
        'run',
        '--detach',
        '--ulimit',
        'nofile=1024:1024',
        '--ulimit',
        'nproc=1024:1024',
        ...left,
      ])
      expect(listContainers(instance)).toHaveLength(1)
      const next = openEmbeddedBench({ engine, instance })
      await waitFor(() => listContainers(instance).length === 0, 'it is gone')
      await next.close()
      await bench.close()
    })

    describe('in a repository', () => {
      const spec = { url: 'https://code.example/owner/repo' }
      const closed: string[] = []
      const prepare = async (folder: string): Promise<Checkout> => ({
        folder,
        workFolder: folder,
        baseSHA: 'b'.repeat(40),
        headSHA: 'b'.repeat(40),
        diff: async () => ({ text: '', files: [], truncated: false, nested: [], leftOut: [] }),
        commit: async () => undefined,
        push: async () => ({ branch: '', commit: '' }),
        close: async () => void closed.push(folder),
      })
      const startIn = async (checkouts: Pick<Checkouts, 'prepare'>, program: string) => {
        const saves = { saveChanges: async () => undefined, saveDiff: async () => undefined }
        const parts = { checkouts: checkouts as Checkouts, ...saves }
        const bench = openEmbeddedBench({ engine, containerNetwork: 'none', graceMs: 1000, checkouts: parts })
        const key = { taskUid: testIds.next('uid'), attempt: 1 }
        await bench.workloads.ensure({
          key,
          namespace: 'default',
          taskName: 'contained',
          limits: {},
          secrets: [{ namespace: 'default', name: 'keys', folder: '/var/keys', entries: { key: 'made-up' } }],
          checkout: { spec, message: 'work' },
          run: {
            kind: 'command',
            image,
            command: [program],
            args: [],
            env: {},
            transactionToken: 'made-up-token',
            artifactsDir: '/artifacts',
          },
        })
        const end = await waitForEnd(bench, key)
        const left = readdirSync(join(bench.options.dataDir, 'work'))
        await bench.close()
        return { end, left }
      }

      it('that cannot be had leaves no file behind', async () => {
        const refuse = async () => {
          throw new CheckoutError('LoginNeeded', 'The repository needs a login.')
        }
        const { end, left } = await startIn({ prepare: refuse }, '/bin/ls')
        expect(end).toMatchObject({
          phase: 'Failed',
          reason: 'CheckoutFailed',
          message: 'The repository needs a login.',
        })
        expect(left).toEqual([])
      })

      /** In a process with mounts of its own, as `svc up` has as root. */
      const runApart = async (script: string) => {
        const folder = makeFolder('apart-test')
        const size = { bytes: 16 * 1024 ** 2, files: 400 }
        const given = { folder, root, worker: workerFixture, script, size, socket, image }
        const args = ['-m', '--propagation', 'slave', process.execPath, apartProgram, JSON.stringify(given)]
        const { stdout } = await promisify(execFile)('unshare', args, { timeout: 60_000 })
        removeFolder(folder)
        return JSON.parse(stdout).state
      }

      it.skipIf(process.getuid?.() !== 0)(
        'is seen by the engine, which has other mounts than the service',
        async () => {
          expect(await runApart('cat a.txt')).toMatchObject({ phase: 'Succeeded', output: { text: 'checked out\n' } })
        },
      )

      it.skipIf(process.getuid?.() !== 0)('has a workspace of a size', async () => {
        const flood = 'i=0; while [ $i -lt 1500 ]; do i=$((i+1)); head -c 2097152 /dev/zero > f$i; done'
        expect(await runApart(flood)).toMatchObject({ phase: 'Failed', reason: 'DiskFull' })
      })

      it('whose program cannot be started leaves no file behind, and closes its checkout', async () => {
        const { end, left } = await startIn({ prepare: async (_spec, folder) => prepare(folder) }, '/bin/missing')
        expect(end).toMatchObject({ phase: 'Failed', reason: 'StartFailed' })
        expect(left).toEqual([])
        expect(closed).toHaveLength(1)
      })
    })
  })
}

describe.skipIf(typeof podman === 'string')('a container whose network is limited', () => {
  const reached: string[] = []
  const web = createServer((request, response) => {
    reached.push(`${request.method} ${request.headers.host}${request.url}`)
    response.end('good morning')
  })
  let bench: EmbeddedBench
  let image = ''
  beforeAll(async () => {
    if (typeof podman === 'string') return
    image = podman.image
    await new Promise<void>((done) => void web.listen(0, '127.0.0.1', done))
    const gates = createNetworkGates({
      policy: { allowNetworks: [], deny: [] },
      limits: { connections: 8, bytes: 1e6 },
      report: () => undefined,
      limit: () => undefined,
      end: async () => undefined,
      ask: async () => 'pending',
      resolve: async () => [{ address: '93.184.216.34', family: 4 }],
      redirect: () => ({ host: '127.0.0.1', port: (web.address() as AddressInfo).port }),
    })
    bench = openEmbeddedBench({ engine: podman.engine, gates, graceMs: 1000 })
  })
  afterAll(async () => {
    await bench?.close()
    web.close()
  })

  async function run(script: string, named = image) {
    const key = { taskUid: testIds.next('uid'), attempt: 1 }
    const network = {
      from: 'task' as const,
      rules: { allow: ['good.example'], onUnknown: 'refuse' as const, ports: [80] },
    }
    const command = { kind: 'command' as const, image: named, command: ['/bin/bash', '-c', script], args: [], env: {} }
    await bench.workloads.ensure({ key, namespace: 'default', taskName: 'net', limits: {}, run: command, network })
    const state = await waitFor(async () => {
      const seen = await bench.workloads.observe(key)
      return (seen.phase === 'Succeeded' || seen.phase === 'Failed') && seen
    }, 'it has ended')
    await bench.workloads.remove(key)
    return { state, lines: bench.logs.get(key.taskUid) ?? [] }
  }

  it('reaches through its gate what is listed, and nothing besides', async () => {
    const ask = `ask() {
      exec 3<>/dev/tcp/127.0.0.1/3128
      printf 'GET http://%s/ HTTP/1.1\\r\\nhost: %s\\r\\nconnection: close\\r\\n\\r\\n' $1 $1 >&3
      head -n 1 <&3
    }`
    const around = `for at in 93.184.216.34/80 127.0.0.1/${(web.address() as AddressInfo).port}; do
      (exec 3<>/dev/tcp/$at) 2>/dev/null && echo reached $at || echo nothing at $at
    done`
    const { lines } = await run(`${ask}\nask good.example; ask other.example\n${around}\necho $http_proxy; id -u`)
    const port = (web.address() as AddressInfo).port
    expect(lines.map((line) => line.trim())).toEqual([
      'HTTP/1.1 200 OK',
      expect.stringContaining('HTTP/1.1 403'),
      'nothing at 93.184.216.34/80',
      `nothing at 127.0.0.1/${port}`,
      'http://127.0.0.1:3128',
      '0',
    ])
    expect(reached).toEqual(['GET good.example/'])
  })

  it('leaves nothing of it, also when it cannot start', async () => {
    const { state } = await run('exit 0')
    expect(state.phase).toBe('Succeeded')
    expect((await run('exit 0', 'localhost/svc-no-such-image:1')).state).toMatchObject({ reason: 'ImageUnavailable' })
    expect(listContainers(bench.options.instance)).toEqual([])
  })
})

describe('without an engine', () => {
  it('refuses an image, and names the engines it tried and what to start', async () => {
    const folder = makeFolder('no-engine-test')
    const engine = createContainerEngine({ host: `unix://${join(folder, 'nobody.sock')}` })
    const probe = await engine.find()
    expect(probe).toMatchObject({ available: false, reason: expect.stringContaining('nobody.sock') })
    expect(probe).toHaveProperty('suggestion', expect.stringContaining('podman.socket'))
    removeFolder(folder)
  })

  it('and without bubblewrap, a sandbox says what to install [BUILT-023]', async () => {
    const engine = createContainerEngine({ sockets: [] })
    const missing = {
      available: false as const,
      reason: 'bubblewrap (bwrap) is not installed',
      suggestion: 'apt-get install bubblewrap',
    }
    const container = { engine, image: 'any', instance: 'test', scratchRoot: '/nowhere' }
    const sandbox = createSandbox({ ids: testIds, bubblewrap: Promise.resolve(missing), container })
    expect(await sandbox.check()).toEqual(missing)
    const limits = { timeoutMs: 1, memoryBytes: 1, cpuSeconds: 1, processes: 1, outputBytes: 1, diskBytes: 1 }
    const error = await sandbox
      .run({ argv: ['true'], limits }, new AbortController().signal)
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      reason: 'NotConfigured',
      message: expect.stringContaining('apt-get install bubblewrap'),
    })
  })
})
