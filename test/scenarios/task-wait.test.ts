// svc task wait: one task or many, whatever happens to them and to the service meanwhile.
import { spawn } from 'node:child_process'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ScriptedVendor, startVendor, type VendorStep } from '../fixtures/llm/scripted-vendor.ts'
import { waitFor } from '../fixtures/time.ts'
import {
  createTask,
  launcher,
  makeFolder,
  nodeFlags,
  removeFolder,
  runSvc,
  type Service,
  startService,
  waitForPhase,
} from './service.ts'

const folder = makeFolder()
let service: Service
let vendor: ScriptedVendor
let gate = Promise.withResolvers<void>()

beforeAll(async () => {
  service = await startService({ folder })
  vendor = await startVendor((): VendorStep[] => [{ text: 'begun\nand ' }, { wait: gate.promise }, { text: 'done' }])
  const spec = { type: 'llmo', baseURL: vendor.url, defaultModel: 'm' }
  expect((await service.call('POST', '/api/v1/providers', { name: 'default', spec })).status).toBe(201)
})
beforeEach(() => {
  gate = Promise.withResolvers()
})
afterAll(async () => {
  gate.resolve()
  await service.stop()
  await vendor.close()
  removeFolder(folder)
})

function start(...args: string[]) {
  const program = [...nodeFlags, launcher, '--server', service.url, '--token', service.token, 'task', ...args]
  const child = spawn(process.execPath, program, { env: service.env, stdio: ['ignore', 'pipe', 'pipe'] })
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk: Buffer) => {
      said[name] += chunk.toString()
    })
  }
  const code = new Promise<number | null>((resolve) => child.once('close', resolve))
  return { said, code, until: (text: string) => waitFor(() => (said.stdout + said.stderr).includes(text), text) }
}

/** The service, behind something that breaks the first request for a result. */
async function startBehindFault(): Promise<Server> {
  let broken = 0
  const server = createServer((asked, answer) => {
    if (asked.url?.includes('/result') && broken++ === 0) return void asked.destroy()
    const { hostname, port } = new URL(service.url)
    const { method, url: path, headers } = asked
    const passed = request({ hostname, port, method, path, headers }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers)
      got.pipe(answer)
    })
    passed.on('error', () => answer.destroy())
    answer.on('close', () => passed.destroy())
    asked.pipe(passed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

const talk = (name: string) => createTask(service, name, { type: 'ai', prompt: 'talk' })
const readLog = async (name: string) =>
  (await service.call<{ logs: string }>('GET', `/api/v1/tasks/${name}/logs`)).body.logs

async function beginTalk(name: string): Promise<void> {
  await talk(name)
  await waitForPhase(service, name, 'Running')
  await waitFor(async () => (await readLog(name)).includes('begun'), `${name} to begin`)
}

describe('svc task wait', () => {
  it('shows what a task writes from now on, and with --tail what it wrote before', async () => {
    await beginTalk('attended')
    const [now, tail, all, logs] = [
      start('wait', 'attended'),
      start('wait', 'attended', '--tail', '1'),
      start('wait', 'attended', '--tail', 'all'),
      start('logs', '-f', 'attended', '--tail', '0'),
    ]
    for (const one of [now, tail, all, logs]) await one.until('and ')
    gate.resolve()
    for (const { code } of [now, tail, all, logs]) expect(await code).toBe(0)
    const written = (await readLog('attended')).trim().split('\n')
    const before = written.slice(0, written.indexOf('begun') + 1)
    expect(now.said.stderr).toContain('and done')
    for (const line of before) {
      expect(now.said.stderr.split('\n')).not.toContain(line)
      expect(all.said.stderr.split('\n')).toContain(line)
    }
    expect(tail.said.stderr.split('\n')).toContain('begun')
    expect(logs.said.stdout).not.toContain('begun')
    expect(now.said.stdout).toBe('begun\nand done\n')
  })

  it('goes on when the service is killed and started again', async () => {
    await beginTalk('long')
    const [one, many] = [start('wait', 'long'), start('wait', 'long', 'attended')]
    await one.until('and ')
    await many.until('attended: Succeeded')
    await service.kill()
    service = await startService({ folder, flags: ['--port', new URL(service.url).port] })
    await waitForPhase(service, 'long', 'Running')
    gate.resolve()
    expect([await one.code, await many.code]).toEqual([0, 0])
    expect(one.said.stdout).toBe('begun\nand done\n')
    expect(many.said.stderr).toContain('long: Succeeded')
  })

  it('reads a result again when the service goes away just then', async () => {
    await beginTalk('ended')
    gate.resolve()
    await waitForPhase(service, 'ended', 'Succeeded')
    const faulty = await startBehindFault()
    const { port } = faulty.address() as AddressInfo
    const command = ['--server', `http://127.0.0.1:${port}`, '--token', service.token, 'task', 'wait', 'ended']
    expect(await runSvc(command, service.env)).toMatchObject({ code: 0, stdout: 'begun\nand done\n' })
    faulty.closeAllConnections()
    faulty.close()
  })

  it('waits for many, tells how each ended, and what could not be waited for', async () => {
    for (const name of ['cancelled', 'deleted', 'fine']) await beginTalk(name)
    const names = ['cancelled', 'task/deleted', 'fine', 'unknown', 'fine']
    const [many, some] = [start('wait', ...names), start('wait', 'cancelled', 'fine')]
    await many.until('unknown: task not found')
    await service.call('POST', '/api/v1/tasks/cancelled/cancel', {})
    for (const one of [many, some]) await one.until('cancelled: Cancelled')
    await service.call('DELETE', '/api/v1/tasks/deleted')
    await many.until('deleted was deleted')
    gate.resolve()
    expect([await many.code, await some.code]).toEqual([1, 4])
    expect(many.said.stdout).toBe('begun\nand done\n')
    const gone = start('wait', 'deleted')
    expect(await gone.code).toBe(1)
  })
})
