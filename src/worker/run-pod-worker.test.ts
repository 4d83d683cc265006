import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { mountedFiles } from '../contract/api/tasks/worker-pod.ts'
import { beginTime } from './run-pod-worker.ts'

const now = new Date('2026-03-01T12:10:00Z')

describe('the time of a worker in a pod', () => {
  it('begins when the worker does, however long its pod waited for a node [TASK-041]', () => {
    const assignment = { api: {}, deadline: '2026-03-01T12:01:00.000Z', timeoutMs: 60_000 }
    expect(beginTime(assignment, now)).toEqual({ ...assignment, deadline: '2026-03-01T12:11:00.000Z' })
  })

  it('is not limited where the task has no timeout', () => {
    expect(beginTime({ api: {} }, now)).toEqual({ api: {} })
  })
})

/** One that does nothing but pause, as it does until the container of its program is up. */
const pausingWorker = `
  import { systemClock } from '${new URL('../lib/system-clock.ts', import.meta.url)}'
  import { runPodWorker } from '${new URL('./run-pod-worker.ts', import.meta.url)}'
  const load = async () => {
    await systemClock.sleep(500)
    throw new Error('it has paused')
  }
  await runPodWorker({ load, stop: new AbortController().signal, root: process.argv[1] })
`

it('a worker in a pod outlives a pause in which nothing else goes on', async () => {
  const root = mkdtempSync(join(tmpdir(), 'svc-pod-'))
  const lay = (path: string, content: string | Buffer) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  const { assignment, token, outcome } = mountedFiles
  lay(join(assignment.folder, assignment.name), gzipSync('{"api":{}}'))
  lay(join(token.folder, token.name), 'made-up-token')
  lay(outcome, '')
  try {
    await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', pausingWorker, root])
    expect(JSON.parse(readFileSync(join(root, outcome), 'utf8'))).toMatchObject({
      ok: false,
      message: expect.stringContaining('it has paused'),
    })
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
})
