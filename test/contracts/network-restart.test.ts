// A service that is killed while a program of a task receives something: the program sees an end, its next try passes, and what was
// counted by then is still there and is not counted again.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createGateCredentials } from '../../src/auth/gate-credentials.ts'
import { systemClock as clock } from '../../src/lib/system-clock.ts'
import type { HostRecord } from '../../src/ports/tasks/network-records.ts'
import { copyMigrated } from '../fixtures/sqlite.ts'

const folder = mkdtempSync(join(tmpdir(), 'svc-gate-restart-'))
const key = randomBytes(32)
const program = join(import.meta.dirname, '..', 'fixtures', 'gate-process.ts')
const identity = { taskUid: 'uid-fetch', attempt: 1, namespace: 'team', taskName: 'fetch' }
const small = 'x'.repeat(1000)

/** Sends without an end to whoever says `all`, and one text to whoever says `some`. */
const upstream = createServer((socket) => {
  socket.on('error', () => undefined)
  socket.on('data', (chunk) => {
    if (String(chunk).includes('some')) return void socket.write(small)
    const timer = setInterval(() => socket.write(Buffer.alloc(16_384)), 10)
    socket.once('close', () => clearInterval(timer))
  })
})
const children = new Set<ChildProcess>()

beforeAll(async () => {
  await copyMigrated(join(folder, 'svc.db'))
  await new Promise<void>((done) => void upstream.listen(0, '127.0.0.1', done))
})
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  upstream.close()
  rmSync(folder, { recursive: true, force: true })
})

async function startGate(port: number) {
  const { port: leads } = upstream.address() as AddressInfo
  const child = spawn(process.execPath, [program, folder, `${port}`, `${leads}`, key.toString('hex')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  children.add(child)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const readLine = async () => JSON.parse(String((await lines.next()).value))
  const opened = (await readLine()) as { port: number }
  return {
    port: opened.port,
    async read(): Promise<HostRecord | undefined> {
      child.stdin.write(`${identity.taskUid}\n`)
      return ((await readLine()) as HostRecord[])[0]
    },
    async kill() {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      children.delete(child)
    },
  }
}

async function openTunnel(port: number): Promise<Socket> {
  const { user, password } = await createGateCredentials({ key, clock }).mint(identity)
  const credential = Buffer.from(`${user}:${password}`).toString('base64')
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  socket.write(
    `CONNECT good.example:22 HTTP/1.1\r\nHost: good.example:22\r\nProxy-Authorization: Basic ${credential}\r\n\r\n`,
  )
  const [head] = (await once(socket, 'data')) as [Buffer]
  expect(String(head)).toMatch(/^HTTP\/1.1 200/)
  return socket
}

it('ends what passes when it is killed, lets the next try pass, and keeps the counts', async () => {
  const first = await startGate(0)
  const endless = await openTunnel(first.port)
  let received = 0
  endless.on('data', (chunk) => {
    received += chunk.length
  })
  endless.write('SSH-2.0 all')
  await expect.poll(async () => (await first.read())?.received ?? 0, { timeout: 20_000 }).toBeGreaterThan(0)
  const closed = once(endless, 'close')
  await first.kill()
  await closed

  const second = await startGate(first.port)
  const before = await second.read()
  expect(before).toMatchObject({ host: 'good.example', port: 22, connections: 1 })
  expect(before?.received).toBeGreaterThan(0)
  expect(received).toBeGreaterThan(0)
  const next = await openTunnel(second.port)
  next.write('SSH-2.0 some')
  let got = 0
  for await (const chunk of next) {
    got += chunk.length
    if (got >= small.length) break
  }
  await expect.poll(async () => (await second.read())?.connections, { timeout: 20_000 }).toBe(2)
  await expect
    .poll(async () => (await second.read())?.received, { timeout: 20_000 })
    .toBe((before?.received ?? 0) + small.length)
  const after = await second.read()
  expect(after?.sent).toBe((before?.sent ?? 0) + 'SSH-2.0 some'.length)
  expect(after?.firstAt).toBe(before?.firstAt)
  await second.kill()
}, 60_000)
