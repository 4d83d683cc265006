// The door of the gates where attempts have pods: all of them reach one port, and what a connection shows says whose it is. What
// follows is passed to the gate of that attempt, which is opened with the first connection and closed some time after the last.
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { messageOf } from '../../errors.ts'
import type { WorkerIdentity } from '../../ports/identity/identity.ts'
import type { AttemptKey } from '../../ports/tasks/workloads.ts'
import type { GatedAttempt, NetworkGate, NetworkGates } from '../../ports/workspaces/network-gates.ts'

export type SharedPortOptions = {
  gates: NetworkGates
  /** Whose credential the header Proxy-Authorization has. */
  identify(header: string | undefined): Promise<WorkerIdentity | undefined>
  /** What holds for an attempt that is under way; undefined for any other. */
  findAttempt(identity: WorkerIdentity): Promise<GatedAttempt | undefined>
  /** The attempt whose pod has the address, where that is known. */
  ownerOf(address: string): AttemptKey | undefined
  log: { warn(fields: object, message: string): void }
  /** How long a gate stays open without connections; one minute. */
  idleMs?: number
}

const maxHeadBytes = 32 * 1024
const headMs = 15_000
const maxConnections = 20_000
const headEnd = '\r\n\r\n'

const refusals = {
  407: 'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="svc"\r\n',
  403: 'HTTP/1.1 403 Forbidden\r\n',
  431: 'HTTP/1.1 431 Request Header Fields Too Large\r\n',
  503: 'HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n',
} as const

class Refusal extends Error {
  readonly status: keyof typeof refusals

  constructor(status: keyof typeof refusals, message: string) {
    super(message)
    this.status = status
  }
}

function writeRefusal({ status, message }: Refusal): string {
  const body = `${message}\n`
  const headers = `Content-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n`
  return `${refusals[status]}${headers}\r\n${body}`
}

/** The first bytes, up to the end of the first request's headers or beyond. */
async function readHead(socket: Socket): Promise<{ head: string; bytes: Buffer } | undefined> {
  const parts: Buffer[] = []
  let size = 0
  for await (const [part] of on(socket)) {
    parts.push(part)
    size += part.length
    const bytes = Buffer.concat(parts, size)
    const end = bytes.indexOf(headEnd)
    if (end !== -1) return { head: bytes.toString('latin1', 0, end), bytes }
    if (size > maxHeadBytes) throw new Refusal(431, 'the headers are too long')
  }
  return undefined
}

/** What has been read is put back by whoever goes on with it. */
async function* on(socket: Socket): AsyncGenerator<[Buffer]> {
  while (!socket.destroyed && !socket.readableEnded) {
    const part = socket.read() as Buffer | null
    if (part !== null) yield [part]
    else await Promise.race([once(socket, 'readable'), once(socket, 'end'), once(socket, 'close')])
  }
}

function readCredential(head: string): string | undefined {
  return /^proxy-authorization:([^\r\n]*)$/im.exec(head)?.[1]?.trim()
}

function nameAttempt({ taskUid, attempt }: AttemptKey): string {
  return `${taskUid}/${attempt}`
}

type OpenGate = { gate: Promise<NetworkGate>; connections: number; timer: NodeJS.Timeout | undefined }

/** Of the attempts that use this replica now. */
function createGateTable({ gates, findAttempt, idleMs = 60_000 }: SharedPortOptions) {
  const open = new Map<string, OpenGate>()

  async function openGate(identity: WorkerIdentity): Promise<NetworkGate> {
    const attempt = await findAttempt(identity)
    if (attempt === undefined) throw new Refusal(403, 'this attempt is not under way')
    return gates.open(attempt)
  }

  function enter(identity: WorkerIdentity): OpenGate {
    const name = nameAttempt(identity)
    const known = open.get(name)
    if (known !== undefined) return known
    const entry: OpenGate = { gate: openGate(identity), connections: 0, timer: undefined }
    open.set(name, entry)
    entry.gate.catch(() => open.delete(name))
    return entry
  }

  async function close(name: string, entry: OpenGate): Promise<void> {
    if (open.get(name) === entry) open.delete(name)
    await entry.gate.then((gate) => gate.close()).catch(() => undefined)
  }

  return {
    async use(identity: WorkerIdentity, work: (gate: NetworkGate) => Promise<void>): Promise<void> {
      const entry = enter(identity)
      clearTimeout(entry.timer)
      entry.connections += 1
      try {
        await work(await entry.gate)
      } finally {
        entry.connections -= 1
        if (entry.connections === 0) {
          entry.timer = setTimeout(() => void close(nameAttempt(identity), entry), idleMs).unref()
        }
      }
    },
    closeAll: () => Promise.all([...open].map(([name, entry]) => close(name, entry))),
  }
}

/** A credential that was read in another task's pod is of no use there. */
function checkAddress({ ownerOf }: SharedPortOptions, identity: WorkerIdentity, address: string): void {
  const owner = ownerOf(address.replace(/^::ffff:/, ''))
  if (owner === undefined || nameAttempt(owner) === nameAttempt(identity)) return
  throw new Refusal(403, 'this credential is of another attempt')
}

export type SharedPort = { port: number; close(): Promise<void> }

/** Rejects when it cannot listen there. */
export async function openSharedPort(
  options: SharedPortOptions,
  { host, port }: { host: string; port: number },
): Promise<SharedPort> {
  const table = createGateTable(options)
  const clients = new Set<Socket>()

  async function serve(client: Socket): Promise<void> {
    const timer = setTimeout(() => client.destroy(), headMs).unref()
    const begun = await readHead(client)
    clearTimeout(timer)
    if (begun === undefined) return
    const identity = await options.identify(readCredential(begun.head))
    if (identity === undefined) throw new Refusal(407, 'the credential of an attempt is missing or wrong')
    checkAddress(options, identity, client.remoteAddress ?? '')
    await table.use(identity, async (gate) => {
      if (client.destroyed || client.readableEnded) return
      // No server gets to see the credential: what a gate passes on has no header that is for proxies.
      client.unshift(begun.bytes)
      gate.accept(client)
      if (!client.closed) await new Promise((resolve) => void client.once('close', resolve))
    })
  }

  const server: Server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    clients.add(client)
    client.once('close', () => clients.delete(client))
    client.on('error', () => undefined)
    serve(client)
      .catch((error: unknown) => {
        if (error instanceof Refusal) return void client.end(writeRefusal(error))
        options.log.warn({ error: messageOf(error) }, 'the gate of an attempt could not be opened')
        client.end(writeRefusal(new Refusal(503, 'the gate cannot be opened now')))
      })
      .finally(() => client.destroySoon())
  })
  server.maxConnections = maxConnections
  server.listen(port, host)
  await once(server, 'listening')
  return {
    port: (server.address() as { port: number }).port,
    async close() {
      const closed = once(server, 'close')
      server.close()
      for (const client of clients) client.destroy()
      await Promise.all([closed, table.closeAll()])
    },
  }
}
