// The gate of an attempt over the stores of the service: what people answer reaches the next connection, and what passes is counted.
import { connect, createServer, type Server, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { openNetworkGates } from '../../src/compose/network-gates.ts'
import type { ApprovalItem, ApprovalScope } from '../../src/contract/api/tasks/approvals.ts'
import type { TaskNetwork } from '../../src/contract/api/tasks/network.ts'
import type { TraceStep } from '../../src/contract/api/tasks/trace.ts'
import { systemClock } from '../../src/lib/system-clock.ts'
import type { NetworkGate } from '../../src/ports/workspaces/network-gates.ts'
import { type Service, startService } from './service.ts'

let service: Service
let echo: Server
const closing: (() => unknown)[] = []
const failures: string[] = []
beforeAll(async () => {
  service = await startService()
  echo = createServer((socket) => void socket.on('error', () => undefined).pipe(socket))
  await new Promise<void>((done) => void echo.listen(0, '127.0.0.1', done))
})
afterEach(async () => {
  vi.useRealTimers()
  for (const close of closing.splice(0)) await close()
  expect(failures).toEqual([])
})
afterAll(async () => {
  echo.close()
  await service.stop()
})

let count = 0
async function openGate(
  networkBytes = '1Gi',
): Promise<{ name: string; gate: NetworkGate; reopen(): Promise<NetworkGate> }> {
  const name = `gated-${count++}`
  const spec = { type: 'container', command: ['true'], network: { allow: ['pypi.org'], onUnknown: 'ask' } }
  await service.call('POST /api/v1/tasks', { payload: { metadata: { name }, spec } })
  const { identity } = await service.runTask(name)
  const { records, resources } = service.ports
  const log = { error: (_fields: object, message: string) => void failures.push(message) }
  const gates = openNetworkGates(
    { networkConnections: 64, networkBytes },
    { records, resources, policy: { allowNetworks: [], deny: [] } as never, clock: systemClock, log: log as never },
    {
      resolve: async () => [{ address: '93.184.216.34', family: 4 }],
      redirect: () => ({ host: '127.0.0.1', port: (echo.address() as { port: number }).port }),
    },
  )
  const { taskUid, attempt, namespace, taskName } = identity
  const rules = { allow: ['pypi.org'], onUnknown: 'ask' as const, ports: [22, 80, 443] }
  const reopen = async () => {
    const gate = await gates.open({ key: { taskUid, attempt }, namespace, taskName, rules })
    closing.push(() => gate.close())
    return gate
  }
  return { name, gate: await reopen(), reopen }
}

/** The first line of the answer, and the connection. */
async function tunnel({ socket: path }: NetworkGate, target: string): Promise<{ status: number; socket: Socket }> {
  const socket = connect(path).on('error', () => undefined)
  closing.push(() => socket.destroy())
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`)
  let head = ''
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    head += String(chunk)
    if (head.includes('\r\n\r\n')) break
  }
  return { status: Number(/^HTTP\/1.1 (\d+)/.exec(head)?.[1] ?? 0), socket }
}
const tryOnce = async (gate: NetworkGate, target = 'new.example:22') => (await tunnel(gate, target)).status

async function findQuestion(taskName: string): Promise<ApprovalItem> {
  const { items } = (await service.call(`GET /api/v1/approvals?status=pending&taskName=${taskName}`)).json()
  expect(items).toHaveLength(1)
  return items[0]
}
async function approve({ id }: ApprovalItem, scope: ApprovalScope): Promise<void> {
  const answered = await service.call(`POST /api/v1/approvals/${id}/approve`, { payload: { scope } })
  expect(answered.statusCode).toBe(200)
}
const readNetwork = async (name: string) =>
  (await service.call(`GET /api/v1/tasks/${name}/network`)).json() as TaskNetwork

describe('a host that the gate asks about', () => {
  it('passes with the next try, though the answer comes an hour later', async () => {
    const { name, gate } = await openGate()
    expect(await tryOnce(gate)).toBe(403)
    const asked = await findQuestion(name)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 })
    expect(await tryOnce(gate)).toBe(403)
    await approve(asked, 'task')
    await expect.poll(() => tryOnce(gate), { timeout: 10_000 }).toBe(200)
    expect(await tryOnce(gate)).toBe(200)
  })

  it('passes once where that was the answer, and is then asked about anew', async () => {
    const { name, gate } = await openGate()
    expect(await tryOnce(gate)).toBe(403)
    const first = await findQuestion(name)
    await approve(first, 'once')
    const passed: number[] = []
    await expect
      .poll(async () => passed.push(await tryOnce(gate)) && passed.filter((status) => status === 200).length, {
        timeout: 10_000,
      })
      .toBe(1)
    const tries = await Promise.all(Array.from({ length: 10 }, () => tryOnce(gate)))
    expect(tries).toEqual(tries.map(() => 403))
    expect((await findQuestion(name)).id).not.toBe(first.id)
  })

  it('passes once for one of many that try at the same moment', async () => {
    const { name, gate } = await openGate()
    expect(await tryOnce(gate)).toBe(403)
    await approve(await findQuestion(name), 'once')
    const passed: number[] = []
    const tryTen = async () => {
      passed.push(...(await Promise.all(Array.from({ length: 10 }, () => tryOnce(gate)))))
      return passed.filter((status) => status === 200).length
    }
    await expect.poll(tryTen, { timeout: 10_000 }).toBe(1)
    await tryTen()
    expect(passed.filter((status) => status === 200)).toHaveLength(1)
  })
})

describe('what passes a gate and what it refuses', () => {
  it('is counted while the attempt runs, named in events and in the trace, and summed up at the end', async () => {
    const { name, gate } = await openGate()
    const { socket } = await tunnel(gate, 'pypi.org:22')
    const sent = `SSH-2.0-${'x'.repeat(992)}`
    socket.write(sent)
    for (let tries = 0; tries < 5; tries += 1) await tryOnce(gate)
    const readHosts = async () => new Map((await readNetwork(name)).hosts.map((host) => [host.host, host]))
    await expect
      .poll(async () => (await readHosts()).get('pypi.org'), { timeout: 10_000 })
      .toMatchObject({ port: 22, connections: 1, sent: 1000, received: 1000, refused: 0, allowedBy: 'pypi.org' })
    await expect
      .poll(async () => (await readHosts()).get('new.example'), { timeout: 10_000 })
      .toMatchObject({ port: 22, connections: 0, refused: 5, reason: expect.stringContaining('a person is asked') })
    expect((await readNetwork(name)).learned).toEqual(['new.example', 'pypi.org'])
    await gate.close()
    await gate.close()
    const { items } = (await service.call(`GET /api/v1/tasks/${name}/events`)).json()
    const messages = (type: string) =>
      (items as { type: string; message: string }[]).flatMap((event) => (event.type === type ? [event.message] : []))
    expect(messages('NetworkRefused')).toEqual([
      expect.stringMatching(/^new\.example:22 was refused: a person is asked/),
    ])
    expect(messages('NetworkUsed')).toEqual([
      'reached pypi.org:22 (1 connection, 1000 B sent, 1000 B received); refused new.example:22 (5 times)',
    ])
    const trace = (await service.call(`GET /api/v1/tasks/${name}/trace?kind=network`)).json() as { items: TraceStep[] }
    expect(trace.items).toEqual([
      expect.objectContaining({ kind: 'network', name: 'new.example:22', outcome: 'refused', parent: '0', attempt: 1 }),
    ])
  })

  it('counts for the bytes of the task in its next gate as well', async () => {
    const { gate, reopen } = await openGate('1500')
    const { socket } = await tunnel(gate, 'pypi.org:22')
    const closed = new Promise<void>((done) => void socket.once('close', () => done()))
    socket.resume().write(`SSH-2.0-${'x'.repeat(992)}`)
    await closed
    expect(await tryOnce(gate, 'pypi.org:22')).toBe(403)
    await gate.close()
    expect(await tryOnce(await reopen(), 'pypi.org:22')).toBe(403)
  })

  it('is counted once, to the last byte before the gate is closed', async () => {
    const { name, gate } = await openGate()
    const { socket } = await tunnel(gate, 'pypi.org:22')
    socket.write('SSH-2.0-x')
    await new Promise<void>((done) => void socket.once('data', () => done()))
    await Promise.all([gate.close(), gate.close()])
    expect((await readNetwork(name)).hosts).toMatchObject([{ connections: 1, sent: 9, received: 9 }])
  })
})
