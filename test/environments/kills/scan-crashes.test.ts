// kill -9 of the whole service in every stage of a scan: nothing is lost, and nothing that was finished is done again.
import { createServer, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Finding } from '../../../src/contract/api/scans/findings.ts'
import type { Task } from '../../../src/contract/kinds/tasks/task.ts'
import { git } from '../../fixtures/git/repository.ts'
import type { VendorAnswer } from '../../fixtures/llm/scripted-vendor.ts'
import { waitFor } from '../../fixtures/time.ts'
import { base, openScanStand, report, type ScanStand, say, weak } from '../../scenarios/scan-stand.ts'

let stand: ScanStand
beforeAll(async () => {
  stand = await openScanStand()
})
afterAll(() => stand.close())
afterEach(() => stand.forget())

const both = ['auth/login.go', 'pay/pay.go']
const patched = weak('auth').replace(/db\.Query.*/, 'db.Query("select * from users where name = ?", user)')

/** A moment that is reached once and holds what reached it; later ones pass. */
function createHold() {
  const reached = Promise.withResolvers<void>()
  const free = Promise.withResolvers<void>()
  return {
    reached: reached.promise,
    free: free.resolve,
    async pass(): Promise<void> {
      reached.resolve()
      await free.promise
    },
  }
}

type Hold = ReturnType<typeof createHold>

/** Ends the service at that moment, and starts it again. */
async function killAt(hold: Hold): Promise<void> {
  await hold.reached
  await stand.kill()
  hold.free()
  await stand.start()
}

/** Reviews that are counted; `pass` is awaited in each of them. */
function review(pass: (path: string, count: number) => Promise<void> = async () => {}): Map<string, number> {
  const asked = new Map<string, number>()
  for (const path of both)
    stand.script.reviews.set(path, async (id) => {
      asked.set(path, (asked.get(path) ?? 0) + 1)
      await pass(path, asked.get(path) ?? 0)
      return say(report(id, [path]))
    })
  return asked
}

async function expectWhole(name: string): Promise<void> {
  expect(await stand.waitForRun(name)).toMatchObject({ phase: 'succeeded', acceptedFindings: 2, failedSlices: [] })
  expect((await stand.findingsOf(name)).map(({ filePath }) => filePath).sort()).toEqual(both)
  const slices = await stand.slicesOf(name)
  expect(new Set(slices.map(({ status }) => status))).toEqual(new Set(['reviewed']))
}

const author = (id: string, turn: number): VendorAnswer =>
  turn === 0
    ? [{ call: { name: 'file_write', args: { path: '/workspace/auth/login.go', content: patched } } }]
    : say({ schemaVersion: 1, findingId: id, summary: 'mended', changedFiles: ['auth/login.go'] })

async function find(name: string, spec: object = {}): Promise<{ finding: Finding; bare: string }> {
  const bare = stand.makeRemote(name)
  stand.script.reviews.set('auth/login.go', (id) => say(report(id, ['auth/login.go'])))
  await stand.createScan(name, spec)
  await stand.waitForRun(name)
  const [finding] = await stand.findingsOf(name)
  if (finding === undefined) throw new Error('nothing was found')
  return { finding, bare }
}

const tasksOf = async (name: string, stage: string) =>
  (
    await stand.call<{ items: Task[] }>(
      'GET',
      `/api/v1/tasks?limit=500&labelSelector=svc.ai/security-target=${name},svc.ai/security-stage=${stage}`,
    )
  ).body.items

describe('a run goes on after kill -9', () => {
  it('while it fetches the repository', async () => {
    const hold = createHold()
    let isFirst = true
    stand.server.intercept = async ({ url = '' }) => {
      if (!isFirst || !url.includes('/fetched.git')) return false
      isFirst = false
      await hold.pass()
      return false
    }
    stand.makeRemote('fetched')
    review()
    await stand.createScan('fetched')
    await killAt(hold)
    await expectWhole('fetched')
    stand.server.intercept = () => false
  })

  it('while its threat model is written, which is stored once', async () => {
    const hold = createHold()
    stand.script.threatModel = async () => {
      await hold.pass()
      return say('# Threat model\n\nof a shop')
    }
    stand.makeRemote('modelled')
    const asked = review()
    await stand.createScan('modelled')
    await killAt(hold)
    await expectWhole('modelled')
    expect([...asked.values()]).toEqual([1, 1])
    expect((await stand.scanOf('modelled')).status?.threatModelVersion).toBe(1)
    expect(await tasksOf('modelled', 'threat-model')).toHaveLength(1)
  })

  it('once its slices are cut and the first reviews are under way', async () => {
    const hold = createHold()
    stand.makeRemote('sliced')
    const asked = review(async (_path, count) => (count === 1 ? hold.pass() : undefined))
    await stand.createScan('sliced')
    await killAt(hold)
    await expectWhole('sliced')
    for (const count of asked.values()) expect(count).toBeLessThanOrEqual(2)
    expect(await tasksOf('sliced', 'review')).toHaveLength((await stand.slicesOf('sliced')).length)
  })

  it('at the moment at which a review ends and is stored, and reviews no slice twice that was', async () => {
    stand.makeRemote('stored')
    const asked = review()
    await stand.createScan('stored', { maxParallelReviews: 1 })
    await waitFor(async () => (await stand.slicesOf('stored')).some(({ status }) => status === 'reviewed'), 'a review')
    await stand.kill()
    await stand.start()
    await expectWhole('stored')
    expect(Math.max(...asked.values())).toBeLessThanOrEqual(2)
    const tasks = await tasksOf('stored', 'review')
    const runs = await stand.runsOf('stored')
    expect(tasks).toHaveLength(runs[0]?.sliceCount ?? 0)
  })

  it('wherever it happens, five times', async () => {
    stand.makeRemote('shaken')
    review()
    await stand.createScan('shaken', { maxParallelReviews: 1 })
    const progress = async () => {
      const [run] = await stand.runsOf('shaken')
      return `${run?.stage} ${run?.reviewedSliceCount}`
    }
    for (let kills = 0, last = ''; kills < 5; kills += 1) {
      await waitFor(async () => (await progress()) !== last || (await stand.runsOf('shaken'))[0]?.completedAt, 'a step')
      last = await progress()
      await stand.kill()
      await stand.start()
    }
    await expectWhole('shaken')
    expect(await stand.runsOf('shaken')).toHaveLength(1)
  })
})

describe('what is done about a finding goes on after kill -9', () => {
  it('while it is validated', async () => {
    const { finding } = await find('checked')
    const hold = createHold()
    stand.script.works.Validate = [
      async (id) => {
        await hold.pass()
        return say({ finding_id: id, status: 'validated', summary: 'it is there' })
      },
    ]
    await stand.call('POST', `${base}/findings/${finding.id}/validate`)
    await killAt(hold)
    const read = () => stand.get<Finding>(`findings/${finding.id}`)
    await waitFor(async () => (await read()).validationStatus === 'validated', 'the validation')
    expect(await tasksOf('checked', 'validation')).toHaveLength(1)
  })

  it('while its patch is written, and there is one branch', async () => {
    const { finding, bare } = await find('repaired')
    const hold = createHold()
    stand.script.works.Repair = [
      async (id, turn) => {
        if (turn === 1) await hold.pass()
        return author(id, turn)
      },
    ]
    await stand.call('POST', `${base}/findings/${finding.id}/patch`)
    await killAt(hold)
    const patch = await stand.waitForPatch(finding.id)
    expect(patch).toMatchObject({ status: 'succeeded', changedFiles: ['auth/login.go'] })
    expect(git(bare, ['for-each-ref', '--format=%(refname:short)', 'refs/heads/svc']).split('\n')).toEqual([
      patch.branch,
    ])
    expect(git(bare, ['rev-parse', patch.branch])).toBe(patch.headCommit)
  })

  it('while its tests run', async () => {
    const hold = createHold()
    let count = 0
    const listener = createServer(async (socket: Socket) => {
      socket.on('error', () => {})
      count += 1
      if (count === 1) await hold.pass()
      socket.end('go on\n')
    })
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
    const { port } = listener.address() as { port: number }
    const wait = `bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port}; read -r line <&3'`
    const { finding } = await find('trying', { tests: { commands: [wait], network: 'open' } })
    stand.script.works.Repair = [author]
    await stand.call('POST', `${base}/findings/${finding.id}/patch`)
    await killAt(hold)
    expect(await stand.waitForPatch(finding.id)).toMatchObject({ status: 'succeeded', testsRun: [{ exitCode: 0 }] })
    expect(await tasksOf('trying', 'patch')).toHaveLength(1)
    expect(await tasksOf('trying', 'test')).toHaveLength(2)
    listener.close()
  })
})
