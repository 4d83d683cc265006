// What is kept of the files that a command leaves.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LeftFile } from '../../src/ports/tasks/workloads.ts'
import { type Bench, openBench } from './bench.ts'

let bench: Bench
beforeEach(async () => {
  bench = await openBench()
})
afterEach(() => bench.dispose())

const spec = { command: ['make'], artifactsDir: '/workspace/out' }
const file = (name: string, text: string): LeftFile => ({
  name,
  size: text.length,
  open: async function* () {
    yield Buffer.from(text)
  },
})

async function start(name: string, more: object = {}): Promise<string> {
  const { metadata } = await bench.submitTask(name, { ...spec, ...more })
  await bench.running(name)
  bench.workloads.leave(name, [file('a.txt', 'report'), { name: 'link', skipped: 'it is a link' }])
  return metadata.uid
}
async function kept(uid: string): Promise<string[]> {
  return (await bench.records.artifacts.list(uid)).map(({ filename, contentType }) => `${filename} ${contentType}`)
}
const report = ['a.txt text/plain; charset=utf-8']

describe('the files in a command’s folder for artifacts', () => {
  it('are kept when the command succeeds, and the log names what is left out', async () => {
    const uid = await start('build')
    expect(bench.workloads.specOf('build').run).toMatchObject({
      artifactsDir: '/workspace/out',
      env: { SVC_ARTIFACTS_DIR: '/workspace/out' },
    })
    bench.workloads.succeed('build')
    await bench.phase('build', 'Succeeded')
    expect(await kept(uid)).toEqual(report)
    const lines: string[] = []
    for await (const { text } of bench.records.logs.read(uid, {})) lines.push(text)
    expect(lines).toEqual(['[artifact "link" is left out: it is a link]'])
  })

  it('are kept when the command fails, also before a retry', async () => {
    const uid = await start('build', { retryPolicy: { maxRetries: 1 } })
    bench.workloads.fail('build')
    await bench.taskWhen('build', ({ status }) => status?.nextRetryTime !== undefined, 'waits for its retry')
    expect(await kept(uid)).toEqual(report)
  })

  it('are kept when the command times out', async () => {
    const uid = await start('build', { timeout: '10s' })
    await bench.jump(10_000)
    expect((await bench.phase('build', 'Failed')).status?.message).toMatch(/timed out/)
    expect(await kept(uid)).toEqual(report)
  })

  it('are not read where the task has no such folder', async () => {
    const uid = await start('build', { artifactsDir: undefined })
    bench.workloads.succeed('build')
    await bench.phase('build', 'Succeeded')
    expect(await kept(uid)).toEqual([])
  })

  it('do not delay the end of the task when they are lost', async () => {
    const uid = await start('build')
    bench.workloads.readLeftFiles = () => {
      throw new Error('the pod is gone')
    }
    bench.workloads.succeed('build')
    await bench.phase('build', 'Succeeded')
    const lines: string[] = []
    for await (const { text } of bench.records.logs.read(uid, {})) lines.push(text)
    expect(lines).toEqual(['[artifacts are lost: the pod is gone]'])
  })
})
