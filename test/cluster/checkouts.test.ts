// Attempts that work in a git repository, in pods: the repository is behind a login that no pod sees.
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { AttemptKey, CheckoutChanges, WorkloadRun, WorkloadState } from '../../src/ports/tasks/workloads.ts'
import { jobs, type Pod, pods } from '../../src/runtime/jobs/objects.ts'
import { testIds } from '../contracts/embedded-bench.ts'
import { describeOnCluster } from '../fixtures/cluster.ts'
import { type CheckoutBed, makeCheckoutBed } from '../fixtures/git/checkout-bed.ts'
import { git } from '../fixtures/git/repository.ts'
import { waitFor } from '../fixtures/time.ts'
import { type ClusterBench, openClusterBench, testImage } from './workloads-bench.ts'

type Kept = { changes: CheckoutChanges; output?: string | undefined }

const entries = {
  'README.md': 'a tool\n',
  'src/main.txt': 'one\n',
  'run.sh': { mode: '100755' as const, text: '#!/bin/sh\necho ran\n' },
  link: { mode: '120000' as const, text: 'README.md' },
  'big.bin': Buffer.alloc(6 * 1024 ** 2, 'content of six mebibytes '),
}

describeOnCluster('an attempt in a git repository', () => {
  let bed: CheckoutBed
  let bench: ClusterBench
  let bare: string
  const kept = new Map<string, Kept[]>()
  const diffs = new Map<string, string>()
  beforeAll(async () => {
    bed = await makeCheckoutBed()
    bare = bed.repository('tool', entries)
    bed.repository('small', { 'README.md': 'a few words\n' })
    bench = await openClusterBench({
      checkouts: {
        folder: join(bed.home, 'attempts'),
        parts: {
          checkouts: bed.checkouts,
          saveChanges: async ({ taskUid }, { changes, output }) => {
            kept.set(taskUid, [...(kept.get(taskUid) ?? []), { changes, output: output?.text }])
          },
          saveDiff: async ({ taskUid }, _name, diff) => void diffs.set(taskUid, diff),
          find: async () => ({ spec: bed.spec('tool'), message: 'found again' }),
          isStored: async ({ taskUid }) => kept.has(taskUid),
        },
      },
    })
  })
  afterAll(async () => {
    await bench.close()
    await bed.remove()
  })

  type Changed = { name?: string; subPath?: string; pushBranch?: string; image?: string | undefined }
  async function start(
    script: string,
    { name = 'tool', image = testImage, ...more }: Changed = {},
  ): Promise<AttemptKey> {
    const key = { taskUid: testIds.next('uid'), attempt: 1 }
    const run: WorkloadRun = { kind: 'command', image, command: ['/bin/sh', '-c', script], args: [], env: {} }
    const checkout = { spec: bed.spec(name, more), message: 'what was done' }
    await bench.workloads.ensure({ key, namespace: bench.namespace, taskName: key.taskUid, run, limits: {}, checkout })
    return key
  }
  const waitForEnd = (key: AttemptKey, on = bench.workloads) =>
    waitFor(async () => {
      const state = await on.observe(key)
      return (state.phase === 'Succeeded' || state.phase === 'Failed') && state
    }, 'the attempt has ended')
  async function finish(key: AttemptKey): Promise<WorkloadState> {
    const state = await waitForEnd(key)
    await bench.workloads.remove(key)
    return state
  }
  const linesOf = (key: AttemptKey) => bench.logs.get(key.taskUid) ?? []
  const waitForLine = (key: AttemptKey, line: string) =>
    waitFor(() => linesOf(key).includes(line), `the log has ${JSON.stringify(line)}`)
  const podOf = async (key: AttemptKey) => {
    const { items } = await bench.api.request<{ items: Pod[] }>({
      verb: 'list',
      collection: pods,
      namespace: bench.namespace,
    })
    return items.find(({ metadata }) => metadata.labels?.['svc.ai/task-uid'] === key.taskUid)
  }

  it('begins in its folder of the repository, and brings back output, diff and a pushed branch', async () => {
    const script = 'pwd; ../run.sh; cat ../link; echo two >> main.txt; rm ../link; cmp ../big.bin ../big.bin'
    const key = await start(script, { subPath: 'src', pushBranch: 'svc/two' })
    expect(await finish(key)).toMatchObject({ phase: 'Succeeded' })
    const base = git(bare, ['rev-parse', 'main'])
    const [cut, done] = kept.get(key.taskUid) ?? []
    expect(cut?.changes.pushError).toContain('interrupted')
    expect(done).toMatchObject({
      output: '/workspace/src\nran\na tool\n',
      changes: { baseSHA: base, branch: 'main', pushBranch: 'svc/two' },
    })
    expect(done?.changes.diff.files.map(({ path, change }) => [path, change])).toEqual([
      ['link', 'removed'],
      ['src/main.txt', 'changed'],
    ])
    expect(git(bare, ['show', 'svc/two:src/main.txt'])).toBe('one\ntwo')
    expect(git(bare, ['rev-parse', 'svc/two^'])).toBe(base)
    expect(linesOf(key)).toEqual([
      `[checked out: main at ${base.slice(0, 12)}]`,
      '/workspace/src',
      'ran',
      'a tool',
      '[changed: 2 files, +1 -1]',
      expect.stringContaining('[pushed: '),
    ])
  })

  it('has its files in an image of its own, with a repository of its own to use', async () => {
    const key = await start('git -C /workspace log --format=%s; git status --porcelain; echo made > made.txt', {
      name: 'small',
    })
    expect(await finish(key)).toMatchObject({ phase: 'Succeeded' })
    expect(kept.get(key.taskUid)?.at(-1)?.changes.diff.text).toContain('+made')
    expect(kept.get(key.taskUid)?.at(-1)?.output).not.toContain('big.bin')
  })

  it('finds no login: not in its environment, files and processes, nor in what the cluster stores of it', async () => {
    const search =
      'env; cat /proc/*/environ /proc/*/cmdline; find / /workspace /tmp -xdev -type f -size -64k ! -path /tmp/seen | xargs -d "\\n" cat'
    const key = await start(
      // First the search: the password is on the command line of grep.
      `{ ${search}; } >/tmp/seen 2>/dev/null; grep -ac "$(echo ${btoa(bed.password)} | base64 -d)" /tmp/seen; wc -c </tmp/seen`,
    )
    const job = await bench.api.request({ verb: 'list', collection: jobs, namespace: bench.namespace })
    await waitForEnd(key)
    const seen = JSON.stringify([job, await podOf(key)])
    expect(await finish(key)).toMatchObject({
      phase: 'Succeeded',
      output: { text: expect.stringMatching(/^0\n\d{4,}\n$/) },
    })
    for (const text of [bed.password, btoa(`user:${bed.password}`)]) expect(seen).not.toContain(text)
  })

  it('says why there is no checkout, and does not begin', async () => {
    const state = await finish(await start('echo begun', { name: 'nowhere' }))
    expect(state).toMatchObject({ phase: 'Failed', reason: 'CheckoutFailed' })
    expect(state).toMatchObject({ message: expect.stringMatching(/repository|exist/i) })
  })

  it('leaves the diff of a failure as a file, and pushes nothing', async () => {
    const key = await start('echo half > half.txt; exit 3', { pushBranch: 'svc/half' })
    expect(await finish(key)).toMatchObject({ phase: 'Failed', reason: 'ExitCode', exitCode: 3 })
    expect(diffs.get(key.taskUid)).toContain('+half')
    expect(kept.has(key.taskUid)).toBe(false)
    expect(git(bare, ['branch', '--list', 'svc/half'])).toBe('')
  })

  it('leaves its diff when it is stopped', async () => {
    const key = await start('echo early > early.txt; echo ready; sleep 600', { pushBranch: 'svc/early' })
    await waitForLine(key, 'ready')
    await bench.workloads.remove(key)
    expect(diffs.get(key.taskUid)).toContain('+early')
    expect(git(bare, ['branch', '--list', 'svc/early'])).toBe('')
    expect(await bench.workloads.observe(key)).toEqual({ phase: 'Missing' })
  })

  it('does no harm with links, odd files and a history of its own', async () => {
    const harm = [
      'rm -rf .git && git init -q . && git config core.fsmonitor "touch /tmp/started"',
      'ln -s /etc/passwd outside; ln -s / root; mkfifo pipe; mkdir closed; echo x > closed/in; chmod 000 closed/in closed',
      'rm -rf src; ln -s /tmp src; echo "* filter=evil" > .gitattributes',
    ].join('; ')
    const key = await start(harm)
    expect(await finish(key)).toMatchObject({ phase: 'Succeeded' })
    const { files = [] } = kept.get(key.taskUid)?.at(-1)?.changes.diff ?? {}
    const paths = ['.gitattributes', 'closed/in', 'outside', 'root', 'src', 'src/main.txt']
    expect(files.map(({ path }) => path).toSorted()).toEqual(paths)
  })

  it('is lost, not failed, when its pod goes while it is being checked out', async () => {
    const held = Promise.withResolvers<boolean>()
    bed.server.intercept = () => held.promise
    const key = await start('echo begun')
    const reached = bed.server.seen.length
    await waitFor(() => bed.server.seen.length > reached, 'the server is asked')
    const name = (await podOf(key))?.metadata.name ?? ''
    const body = { gracePeriodSeconds: 0 }
    await bench.api.request({ verb: 'delete', collection: pods, namespace: bench.namespace, name, body })
    const state = await waitForEnd(key)
    bed.server.intercept = () => false
    held.resolve(false)
    await bench.workloads.remove(key)
    expect(state).toMatchObject({ phase: 'Failed', reason: 'Stopped' })
    expect(linesOf(key)).not.toContain('begun')
  })

  it('is gone on with by another process that knows nothing of it', async () => {
    const key = await start('echo ready; until [ -e /tmp/go ]; do sleep 0.2; done; echo late > late.txt')
    await waitForLine(key, 'ready')
    await bench.workloads.detach()
    const other = bench.restart({
      checkouts: { ...(bench.options.checkouts as object), folder: join(bed.home, 'others') } as never,
    })
    expect(await other.observe(key)).toMatchObject({ phase: 'Running' })
    const pod = await podOf(key)
    const { execFileSync } = await import('node:child_process')
    const target = ['-n', bench.namespace, pod?.metadata.name ?? '', '-c', 'worker']
    execFileSync('kubectl', ['exec', ...target, '--', 'touch', '/tmp/go'])
    expect(await waitForEnd(key, other)).toMatchObject({ phase: 'Succeeded' })
    await other.remove(key)
    expect(kept.get(key.taskUid)).toHaveLength(1)
    expect(kept.get(key.taskUid)?.[0]?.changes.diff.text).toContain('+late')
    expect(linesOf(key).filter((line) => line === 'ready')).toHaveLength(1)
  })
})
