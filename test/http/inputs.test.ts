// Files that a task is given before it starts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aiTask, type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

const bytes = { 'content-type': 'application/octet-stream' }
const put = (task: string, path: string, payload: string | Buffer = path) =>
  service.call(`PUT /api/v1/tasks/${task}/inputs/${encodeURIComponent(path)}`, { payload, headers: bytes })
const make = (name: string, spec: object = {}) =>
  service.call('POST /api/v1/tasks', { payload: aiTask(name, { suspend: true, ...spec }) })
const list = async (task: string) => {
  const { items } = (await service.call(`GET /api/v1/tasks/${task}/inputs`)).json()
  return items.map(({ filename, size }: { filename: string; size: number }) => [filename, size])
}

describe('files that a task is given', () => {
  it('are listed by path, may be empty, and can be read by its own worker only', async () => {
    await make('fed')
    expect((await put('fed', 'src/main.py', 'print(1)')).statusCode).toBe(204)
    expect((await put('fed', 'empty', '')).statusCode).toBe(204)
    expect((await put('fed', 'src/main.py', 'print(2)!')).statusCode).toBe(204)
    expect(await list('fed')).toEqual([
      ['empty', 0],
      ['src/main.py', 9],
    ])
    expect((await service.call('GET /api/v1/tasks/fed/artifacts')).json().items).toEqual([])
    const { token } = await service.runTask('fed')
    const read = (task: string, path: string) =>
      service.call(`GET /internal/v1/inputs/default/${task}/${encodeURIComponent(path)}`, { token })
    expect((await read('fed', 'src/main.py')).body).toBe('print(2)!')
    expect((await read('fed', 'other')).statusCode).toBe(404)
    expect((await read('someone', 'src/main.py')).statusCode).toBe(403)
  })

  it('are refused once it has started, and for tasks that accept none', async () => {
    await make('begun')
    await service.runTask('begun')
    const late = await put('begun', 'a')
    expect([late.statusCode, late.json().error.message]).toEqual([409, expect.stringContaining('spec.suspend')])
    await make('planned', { schedule: '0 0 1 1 *' })
    expect((await put('planned', 'a')).statusCode).toBe(400)
    const command = { name: 'command', type: 'container', command: ['true'], suspend: true }
    await service.call('POST /api/v1/tasks', { payload: command })
    expect((await put('command', 'a')).statusCode).toBe(400)
    expect((await put('nobody', 'a')).statusCode).toBe(404)
  })

  it('are refused with a path that leads out of the workspace, and beyond 10 MiB', async () => {
    await make('bounded')
    for (const path of ['../a', 'a/../../b', '/a', 'a//b', 'a\nb', '.'])
      expect((await put('bounded', path)).statusCode, path).toBe(400)
    expect((await put('bounded', 'large', Buffer.alloc(10 * 1_048_576 + 1))).statusCode).toBe(413)
    expect(await list('bounded')).toEqual([])
  })

  it('need the right to update the task', async () => {
    await make('guarded')
    const tokenOf = async (role: string) => {
      const answer = await service.call('POST /api/v1/tokens', { payload: { name: `of-${role}`, role } })
      return answer.json().token as string
    }
    const line = 'PUT /api/v1/tasks/guarded/inputs/a'
    const by = async (role: string) =>
      (await service.call(line, { payload: 'x', headers: bytes, token: await tokenOf(role) })).statusCode
    expect(await by('viewer')).toBe(403)
    expect(await by('editor')).toBe(204)
  })

  it('are copied to a retry, which starts when it has them, and are deleted with the task', async () => {
    await make('first')
    await put('first', 'a.txt')
    await service.runTask('first')
    await service.setStatus('Task', 'first', { phase: 'Failed', attempts: 1 })
    const again = (await service.call('POST /api/v1/tasks/first/retry')).json()
    expect(await list(again.metadata.name)).toEqual([['a.txt', 5]])
    const stored = (await service.call(`GET /api/v1/tasks/${again.metadata.name}`)).json()
    // It was held back by its own spec, not by the files.
    expect(stored.spec.suspend).toBe(true)
    await make('free', { suspend: false })
    await put('free', 'b.txt')
    await service.runTask('free')
    await service.setStatus('Task', 'free', { phase: 'Failed', attempts: 1 })
    const free = (await service.call('POST /api/v1/tasks/free/retry')).json()
    expect(free.spec.suspend).toBe(false)
    expect(await list(free.metadata.name)).toEqual([['b.txt', 5]])
  })
})
