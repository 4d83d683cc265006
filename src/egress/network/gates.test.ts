import { once } from 'node:events'
import { connect, createServer, type Server } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { TrafficLimits } from '../../contract/kinds/tasks/network.ts'
import type { NetworkGate } from '../../ports/workspaces/network-gates.ts'
import { createNetworkGates } from './gates.ts'

describe('the gates of attempts', () => {
  let server: Server
  let open: NetworkGate[]
  let reached: string[]

  beforeEach(async () => {
    open = []
    reached = []
    server = createServer((socket) => void socket.on('error', () => undefined).pipe(socket)).listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterEach(async () => {
    for (const gate of open) await gate.close()
    server.close()
  })

  /** Of the service, with what each task says on top. */
  function openGates(limits: Required<TrafficLimits>) {
    const { port } = server.address() as { port: number }
    const gates = createNetworkGates({
      policy: { allowNetworks: [], deny: [] },
      limits,
      report: () => undefined,
      limit: ({ taskName }, message) => void reached.push(`${taskName}: ${message}`),
      end: async () => undefined,
      ask: async () => 'pending',
      resolve: async () => [{ address: '93.184.216.34', family: 4 }],
      redirect: () => ({ host: '127.0.0.1', port }),
    })
    return async (taskName: string, attempt: number, own?: TrafficLimits) => {
      const rules = { allow: ['good.example'], onUnknown: 'refuse' as const, ports: [22], ...(own && { limits: own }) }
      const gate = await gates.open({ key: { taskUid: taskName, attempt }, namespace: 'team', taskName, rules })
      open.push(gate)
      return gate
    }
  }

  /** The first line of the answer, and the connection. */
  async function tunnel({ socket: path }: NetworkGate) {
    const socket = connect(path).on('error', () => undefined)
    socket.write('CONNECT good.example:22 HTTP/1.1\r\nHost: good.example:22\r\n\r\n')
    const [answer] = await once(socket, 'data')
    return { line: String(answer).split('\r\n')[0] ?? '', socket }
  }

  it.each([
    ['the task', { connections: 100, bytes: 1e9 }, { connections: 1 }],
    ['the service', { connections: 1, bytes: 1e9 }, { connections: 100 }],
    ['the service alone', { connections: 1, bytes: 1e9 }, undefined],
  ])('limit connections as %s says, where that is less, and report it once', async (_who, limits, own) => {
    const gate = await openGates(limits)('ada', 1, own)
    expect((await tunnel(gate)).line).toMatch(/ 200 /)
    for (let round = 0; round < 3; round += 1)
      expect((await tunnel(gate)).line).toBe('HTTP/1.1 503 1 connections are open, which is the limit of this task')
    expect(reached).toEqual(['ada: 1 connections are open, which is the limit of this task'])
  })

  it('count the bytes of a task over its attempts, and those of others apart', async () => {
    const attempt = openGates({ connections: 100, bytes: 1e9 })
    const limits = { bytes: 10_000 }
    const first = await attempt('ada', 1, limits)
    const { socket } = await tunnel(first)
    const closed = once(socket, 'close')
    socket.resume().write(`SSH-2.0-${'x'.repeat(20_000)}`)
    await closed
    await first.close()
    const second = await attempt('ada', 2, limits)
    expect((await tunnel(second)).line).toMatch(/^HTTP\/1.1 403 10000 bytes/)
    expect((await tunnel(await attempt('bob', 1, limits))).line).toMatch(/ 200 /)
    expect(reached).toEqual(['ada: 10000 bytes were sent and received, which is the limit of this task'])
  })
})
