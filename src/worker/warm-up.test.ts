import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createEgress } from '../egress/egress.ts'
import { systemClock, systemIds } from '../lib/system-clock.ts'
import { readLeftFiles, readWorkspaceFiles } from '../runtime/folders/left-files.ts'
import type { WorkerDeps } from './deps.ts'
import { runWorker } from './run-worker.ts'
import { runWarmUp } from './warm-up.ts'

let folder = ''
let deps: WorkerDeps
const egress = createEgress()

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-warm-up-'))
  const keepUnsent = () => undefined
  deps = {
    keepUnsent,
    egress,
    clock: systemClock,
    ids: systemIds,
    workspaceRoot: folder,
    readLeftFiles,
    readWorkspaceFiles,
  }
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))
afterAll(() => egress.close())

describe('a warm-up', () => {
  it('runs a whole assignment to its end and leaves nothing behind', async () => {
    expect(await runWarmUp(deps, new AbortController().signal)).toEqual({ ok: true })
    expect(readdirSync(folder)).toEqual([])
  })

  it('goes on where a coordinator was parked, as that takes the most steps before a model is asked', async () => {
    const asked: string[] = []
    const watched: typeof fetch = (input, init) => {
      asked.push(`${init?.method} ${new URL(String(input)).pathname.split('/').slice(3).join('/')}`)
      return fetch(input, init)
    }
    expect(await runWarmUp({ ...deps, fetch: watched }, new AbortController().signal)).toEqual({ ok: true })
    // The log is sent beside these, whenever its pause is over.
    expect(asked.filter((call) => !call.startsWith('POST logs/')).slice(0, 5)).toEqual([
      'GET checkpoints/warm-up/warm-up',
      'POST coordination/warm-up/warm-up/wait',
      'POST coordination/warm-up/warm-up/inbox',
      'PUT checkpoints/warm-up/warm-up',
      'POST leases/warm-up/warm-up',
    ])
  })

  it('is given up at once when there is work', async () => {
    const busy = new AbortController()
    const warmingUp = runWarmUp(deps, busy.signal)
    busy.abort(new Error('there is work'))
    expect(await warmingUp).toBeUndefined()
  })

  it('does not keep a worker from its work, nor from its end', async () => {
    const never = { ...deps, clock: { ...systemClock, sleep: async () => {} }, egress: hangingEgress() }
    const [stdin, report, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
    const code = runWorker({ stdin, report, stderr, load: async () => never })
    await asked.promise
    stdin.write('{}\n')
    expect(await code).toBe(1)
    expect(String(report.read())).toContain('InvalidAssignment')
  })
})

const asked = Promise.withResolvers<void>()

/** Says when the warm-up has come to its model call, and lets it wait there. */
function hangingEgress(): WorkerDeps['egress'] {
  return {
    ...egress,
    openPipe: () => {
      asked.resolve()
      return new Promise(() => {})
    },
  }
}
