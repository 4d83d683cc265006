import { execFile } from 'node:child_process'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { guardExits, makeGuardCommand } from './network-guard.ts'

const servers: Server[] = []
async function listen() {
  const server = createServer()
  servers.push(server)
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done))
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
}
let gate: { host: string; port: number }
let other: { host: string; port: number }
let nobody: { host: string; port: number }

beforeAll(async () => {
  ;[gate, other, nobody] = [await listen(), await listen(), await listen()]
  servers.pop()?.close()
})
afterAll(() => {
  for (const server of servers) server.close()
})

function run(command: string[], env: Record<string, string> = {}): Promise<{ code: unknown; stderr: string }> {
  const [, ...args] = command
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env }, (error, _stdout, stderr) => resolve({ code: error?.code ?? 0, stderr }))
  })
}

describe('the guard of a network', () => {
  it('ends once nothing but the gate is reached', async () => {
    const command = makeGuardCommand(gate, { outside: [nobody], tries: 1 })
    expect(await run(command)).toEqual({ code: guardExits.enforced, stderr: '' })
    const api = { KUBERNETES_SERVICE_HOST: nobody.host, KUBERNETES_SERVICE_PORT: String(nobody.port) }
    expect(await run(command, api)).toEqual({ code: guardExits.enforced, stderr: '' })
  })

  it('says what it reaches besides', async () => {
    const api = { KUBERNETES_SERVICE_HOST: other.host, KUBERNETES_SERVICE_PORT: String(other.port) }
    expect(await run(makeGuardCommand(gate, { tries: 1 }), api)).toEqual({
      code: guardExits.missing,
      stderr: 'no network policy is enforced: it reaches the API of the cluster\n',
    })
    expect(await run(makeGuardCommand(gate, { outside: [nobody, other], tries: 1 }))).toEqual({
      code: guardExits.missing,
      stderr: `no network policy keeps it from other hosts: it reaches ${other.host}:${other.port}\n`,
    })
  })

  it('says when it does not reach the gate', async () => {
    expect(await run(makeGuardCommand(nobody, { tries: 1 }))).toEqual({
      code: guardExits.unreachable,
      stderr: `the gate of the network, ${nobody.host}:${nobody.port}, cannot be reached\n`,
    })
  })
})
