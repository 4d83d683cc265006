import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { stepFile } from '../../contract/api/tasks/runners.ts'
import { systemClock } from '../../lib/system-clock.ts'
import type { Egress, PipeSink } from '../../ports/service/egress.ts'
import { noteSteps, StepRecord } from './steps.ts'

it('the name of the last step is in a file of one length, whatever comes after it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-steps-'))
  try {
    const path = join(folder, stepFile.name)
    const steps = new StepRecord(path)
    expect(readFileSync(path, 'utf8').trim()).toBe('')
    for (const name of ['a-long-name/12', 'b/1']) {
      steps.begin(name)
      const text = readFileSync(path, 'utf8')
      expect([text.trim(), text.length, steps.last]).toEqual([name, stepFile.length, name])
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})

it('a step begins with whatever an attempt goes on with: answers, also by pieces and failed ones, and pauses', async () => {
  let begun = 0
  let sink: PipeSink | undefined
  const said: string[] = []
  const egress = {
    openPipe: async () => ({
      send(_request: unknown, to: PipeSink) {
        sink = to
      },
    }),
    request: () => Promise.reject(new Error('unreachable')),
    fetchWith: () => async () => new Response('x'),
    close: async () => undefined,
  } as unknown as Egress
  const noted = noteSteps({ egress, clock: systemClock, fetch: async () => new Response('x') }, () => {
    begun += 1
  })
  await noted.fetch?.()
  await noted.egress.fetchWith({ allowNetworks: [], deny: [] })('http://127.0.0.1')
  await expect(noted.egress.request({} as never, new AbortController().signal)).rejects.toThrow('unreachable')
  await noted.clock.sleep(0)
  expect(begun).toBe(4)
  const pipe = await noted.egress.openPipe('http://127.0.0.1', { allowNetworks: [], deny: [] })
  pipe.send({} as never, {
    head: (status) => void said.push(`head ${status}`),
    data: (chunk) => said.push(String(chunk)) > 0,
    end: () => void said.push('end'),
    fail: (error) => void said.push(error.message),
  })
  sink?.head(200, {})
  sink?.data(Buffer.from('piece'))
  sink?.end()
  sink?.fail(new Error('cut') as never, false)
  expect([begun, said]).toEqual([8, ['head 200', 'piece', 'end', 'cut']])
})
