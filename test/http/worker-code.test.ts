// The worker API: code that the service runs for the attempt of a worker without a sandbox.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { SvcError } from '../../src/errors.ts'
import type { Sandbox, SandboxCommand, SandboxOutcome } from '../../src/ports/workspaces/sandbox.ts'
import { waitFor } from '../fixtures/time.ts'
import { aiTask, type Service, startService } from './service.ts'

const ended: SandboxOutcome = {
  exitCode: 0,
  signal: null,
  stdout: 'out',
  stderr: '',
  stdoutTruncated: false,
  stderrTruncated: false,
  timedOut: false,
}
const limits = {
  timeoutMs: 1000,
  memoryBytes: 1024 ** 3,
  cpuSeconds: 1,
  processes: 1,
  outputBytes: 1024,
  diskBytes: 1024,
}

let asked: { command: SandboxCommand; signal: AbortSignal }[] = []
let kind = 'pod'
let answer: (signal: AbortSignal) => Promise<SandboxOutcome> = async () => ended
const sandbox: Sandbox = {
  check: async () => ({ available: true, kind, languages: ['python', 'bash'] }),
  run(command, signal) {
    asked.push({ command, signal })
    return answer(signal)
  },
}

let service: Service
let token: string
let name = ''
let count = 0
beforeAll(async () => {
  service = await startService({ sandbox })
})
afterAll(() => service.stop())
beforeEach(async () => {
  asked = []
  kind = 'pod'
  answer = async () => ended
  name = `code-${++count}`
  await service.call('POST /api/v1/tasks', { payload: aiTask(name) })
  ;({ token } = await service.runTask(name))
})

const path = (task = name) => `/internal/v1/code/default/${task}`
const run = (payload: object = { argv: ['bash'], limits }, task = name) =>
  service.call(`POST ${path(task)}`, { token, payload })
const inBase64 = (text: string) => Buffer.from(text).toString('base64')

describe('code of a worker', () => {
  it('is run in the sandbox of the service, its files go along and come back [BUILT-024]', async () => {
    const changes = { written: [{ path: 'b', bytes: Buffer.from('new') }], removed: ['a'] }
    answer = async () => ({ ...ended, changes })
    const workspaceFiles = [{ path: 'a', content: inBase64('old') }]
    const said = await run({ argv: ['bash', '-c', 'mv a b'], stdin: 'x', env: { A: '1' }, limits, workspaceFiles })
    expect(said.statusCode).toBe(200)
    expect(said.json()).toEqual({
      ...ended,
      changes: { written: [{ path: 'b', content: inBase64('new') }], removed: ['a'] },
    })
    expect(asked[0]?.command).toEqual({
      // Whose task it is, for a fair share of the places.
      caller: 'token:owner',
      argv: ['bash', '-c', 'mv a b'],
      stdin: 'x',
      env: { A: '1' },
      limits,
      workspaceFiles: [{ path: 'a', bytes: Buffer.from('old') }],
    })
  })

  it('reports its languages', async () => {
    expect((await service.call(`GET ${path()}`, { token })).json()).toEqual({ languages: ['python', 'bash'] })
  })

  it('is run for its own task only, and only while its attempt runs [TASK-045]', async () => {
    const other = `${name}-other`
    await service.call('POST /api/v1/tasks', { payload: aiTask(other) })
    await service.runTask(other)
    expect((await run(undefined, other)).statusCode).toBe(403)
    expect((await service.call(`POST ${path()}`, { token: 'nonsense', payload: {} })).statusCode).toBe(401)
    await service.runTask(name, 2)
    expect((await run()).statusCode).toBe(403)
    expect((await service.call(`GET ${path()}`, { token })).statusCode).toBe(403)
    expect(asked).toEqual([])
  })

  it.each([
    ['a time limit over a minute', { limits: { ...limits, timeoutMs: 60_001 } }],
    ['more memory than a sandbox has', { limits: { ...limits, memoryBytes: 2 * 1024 ** 3 } }],
    ['more output than is kept', { limits: { ...limits, outputBytes: 1024 ** 2 } }],
    ['a path that leads out', { workspaceFiles: [{ path: '../x', content: '' }] }],
    ['a file that is not base64', { workspaceFiles: [{ path: 'x', content: '%%%' }] }],
    ['files of over 8 MiB', { workspaceFiles: [{ path: 'x', content: 'A'.repeat(12 * 1024 ** 2) }] }],
    ['no program', { argv: [] }],
  ])('is refused with %s', async (_, changed) => {
    const said = await run({ argv: ['bash'], limits, ...changed })
    expect(said.statusCode).toBe(400)
    expect(asked).toEqual([])
  })

  it('may come with 8 MiB of files', async () => {
    const content = Buffer.alloc(8 * 1024 ** 2, 1).toString('base64')
    expect((await run({ argv: ['bash'], limits, workspaceFiles: [{ path: 'x', content }] })).statusCode).toBe(200)
    expect(asked[0]?.command.workspaceFiles?.[0]?.bytes.length).toBe(8 * 1024 ** 2)
  })

  it('is not run by the service where workers run it, nor where there is no sandbox', async () => {
    kind = 'bubblewrap'
    expect((await run()).statusCode).toBe(501)
    kind = 'pod'
    answer = () => Promise.reject(new SvcError('Unavailable', 'no sandbox could be had: none was ready in time'))
    expect((await run()).statusCode).toBe(503)
  })

  it('is stopped when its worker disconnects', async () => {
    const stopped = Promise.withResolvers<void>()
    answer = (signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          stopped.resolve()
          reject(signal.reason)
        })
      })
    const url = await service.listen()
    const leave = new AbortController()
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ argv: ['bash'], limits })
    const call = fetch(new URL(path(), url), { method: 'POST', headers, body, signal: leave.signal })
    await waitFor(() => asked.length > 0, 'a question')
    leave.abort()
    await expect(call).rejects.toThrow()
    await stopped.promise
    expect(asked[0]?.signal.aborted).toBe(true)
  })
})
