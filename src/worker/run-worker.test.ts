import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { WorkerDeps } from './deps.ts'
import { runWorker } from './run-worker.ts'

function start(load: () => Promise<WorkerDeps> = async () => ({}) as WorkerDeps) {
  const [stdin, report, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  report.setEncoding('utf8')
  let said = ''
  report.on('data', (text: string) => {
    said += text
  })
  const ready = new Promise<void>((resolve) => report.once('data', () => resolve()))
  const code = runWorker({ stdin, report, stderr, load })
  const lines = () => said.split('\n').filter(Boolean)
  return { stdin, code, ready, lines }
}

describe('the worker program', () => {
  it('says that it is ready before anything heavy is there', async () => {
    const worker = start(() => new Promise(() => {}))
    await worker.ready
    expect(worker.lines()).toEqual(['{"ready":true}'])
  })

  it('ends with 1 and no outcome when its stdin ends before there was work', async () => {
    const worker = start()
    await worker.ready
    worker.stdin.end()
    expect(await worker.code).toBe(1)
    expect(worker.lines()).toEqual(['{"ready":true}'])
  })

  it('reads a line that comes in pieces and refuses what is not an assignment without repeating it', async () => {
    const worker = start()
    const text = '{"version":1,"api":{"url":"u","token":"tok-secret"}}\n'
    for (const letter of text) worker.stdin.write(letter)
    expect(await worker.code).toBe(1)
    const outcome = JSON.parse(worker.lines()[1] ?? '')
    expect(outcome).toMatchObject({ ok: false, reason: 'InvalidAssignment' })
    expect(outcome.message).toContain('task')
    expect(JSON.stringify(outcome)).not.toContain('tok-secret')
  })

  it('ends at once when the service dies while the work is being prepared', async () => {
    const gate = Promise.withResolvers<WorkerDeps>()
    const worker = start(() => gate.promise)
    worker.stdin.write('{}\n')
    worker.stdin.destroy()
    gate.reject(new Error('never made'))
    expect(await worker.code).toBe(1)
  })
})
