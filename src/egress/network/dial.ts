// Opens the connections of programs: the name is judged before it is looked up, every address after it, and only judged ones are
// dialled, anew each time.
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TrafficLimits } from '../../contract/kinds/tasks/network.ts'
import { isAddress, writeHostName } from '../../contract/values/network-names.ts'
import { isSvcError } from '../../errors.ts'
import { connectPassing } from '../../lib/passing-socket.ts'
import type { EgressPolicy } from '../../ports/service/egress.ts'
import type { HostJudge } from '../../rules/workspaces/network.ts'
import { refuseMachine } from '../destination.ts'
import { findPermitted, listOwnAddresses, pinLookup, type Resolve, type ResolvedAddress } from '../dialer.ts'
import type { Traffic } from './traffic.ts'

export type GateTarget = { host: string; port: number }

/** What a person has said to a host that is not listed; `once`: to this connection alone; `pending`: nothing yet. */
export type HostAnswer = 'approved' | 'once' | 'declined' | 'pending'

export type DialOptions = {
  judge: HostJudge
  policy: Pick<EgressPolicy, 'allowNetworks' | 'deny'>
  limits: Required<TrafficLimits>
  traffic: Traffic
  /** Called with each connection that a limit refuses or ends. */
  onLimit(limit: keyof TrafficLimits): void
  ask(target: GateTarget): Promise<HostAnswer>
  resolve: Resolve
  /** For tests: what takes the place of judged addresses. */
  redirect?: (addresses: ResolvedAddress[], target: GateTarget) => { host: string; port: number }
}

/** A connection that is not made; `status` is that of HTTP. */
export class GateRefusal extends Error {
  readonly status: number
  /** The list does not have the host, and nobody has said no. */
  readonly isUnlisted: boolean
  constructor(status: number, message: string, isUnlisted = false) {
    // A program may be refused thousands of times a second, and a stack would be a seventh of what that costs.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(message)
    Error.stackTraceLimit = stackTraceLimit
    this.status = status
    this.isUnlisted = isUnlisted
  }
}

/** Of a host that may be reached, but not now or no more. */
class BeyondLimit extends GateRefusal {}

/** For whoever is refused, and for the events of the task. */
export function describeLimit(limit: keyof TrafficLimits, { [limit]: amount }: Required<TrafficLimits>): string {
  const what = { connections: 'connections are open', bytes: 'bytes were sent and received' }
  return `${amount} ${what[limit]}, which is the limit of this task`
}

const dialMs = 15_000
const countMs = 200

function refuseUnlisted(target: GateTarget): GateRefusal {
  return new GateRefusal(403, `${writeHostName(target)} is not on the allowlist of this task`, true)
}

async function judgeName(target: GateTarget, { judge, ask }: DialOptions): Promise<void> {
  const verdict = judge(target.host, target.port)
  if (verdict === 'allow') return
  if (verdict === 'refuse') throw refuseUnlisted(target)
  const name = writeHostName(target)
  const answer = await ask(target)
  if (answer === 'declined') throw new GateRefusal(403, `a person has declined ${name}`)
  if (answer === 'pending')
    throw new GateRefusal(403, `a person is asked whether ${name} may be reached; try again after the answer`, true)
}

function explainAddresses(error: unknown, { host }: GateTarget): GateRefusal {
  if (isSvcError(error, 'Forbidden')) return new GateRefusal(403, error.message)
  return new GateRefusal(502, `${host} has no address (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`)
}

async function findAddresses(target: GateTarget, { policy, resolve }: DialOptions): Promise<ResolvedAddress[]> {
  const { host: hostname, port } = target
  const own = listOwnAddresses()
  const found = await findPermitted(
    { hostname, port },
    { allowNetworks: policy.allowNetworks, deny: policy.deny },
    resolve,
  ).catch((error: unknown) => {
    throw explainAddresses(error, target)
  })
  const judged = found.map((resolved) => ({ resolved, why: refuseMachine(resolved.address, own) }))
  const permitted = judged.flatMap(({ resolved, why }) => (why === undefined ? [resolved] : []))
  if (permitted.length > 0) return permitted
  const [first] = judged
  throw new GateRefusal(403, `${hostname} (${first?.resolved.address}) ${first?.why ?? 'has no address'}`)
}

function open(
  target: GateTarget,
  addresses: ResolvedAddress[],
  { redirect, to }: Pick<DialOptions, 'redirect'> & Pick<Dialing, 'to'>,
): Promise<Socket> {
  const { host, port } = redirect?.(addresses, target) ?? target
  const pinned =
    redirect === undefined && !isAddress(host) ? { lookup: pinLookup(addresses), autoSelectFamily: true } : {}
  const options = { host, port, allowHalfOpen: true, noDelay: true, ...pinned }
  const socket = to === undefined ? connect(options) : connectPassing(options, to)
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => socket.destroy(new Error('timed out')), dialMs)
    socket.once('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer)
      reject(new GateRefusal(502, `${writeHostName(target)} cannot be reached (${error.code ?? error.message})`))
    })
    socket.once('connect', () => {
      clearTimeout(timer)
      socket.removeAllListeners('error')
      resolve(socket)
    })
  })
}

/** `isJudged`: the name may be reached, as that of the tunnel that the connection is for. `to`: gets what is received once it is resumed. */
type Dialing = { isJudged?: boolean; to?: Duplex }

export type Dialer = {
  /** GateRefusal. What is sent and received counts, and ends the connection where it is too much. */
  dial(target: GateTarget, dialing?: Dialing): Promise<Socket>
  /** GateRefusal, counted, of what the list refuses by its name; `dial` says the same later, and programs try again without a pause. */
  judge(target: GateTarget): void
  /** Counts what another part has refused. */
  refuse(target: GateTarget, reason: string): void
  close(): void
}

export function createGateDialer(options: DialOptions): Dialer {
  const { limits, traffic, onLimit } = options
  const sockets = new Map<Socket, { target: GateTarget; sent: number; received: number }>()
  let timer: NodeJS.Timeout | undefined
  let opening = 0

  /** It is no refusal of the host. */
  function refuseBeyond(limit: keyof TrafficLimits, status: number): never {
    onLimit(limit)
    throw new BeyondLimit(status, describeLimit(limit, limits))
  }

  function requireRoom(): void {
    if (sockets.size + opening >= limits.connections) refuseBeyond('connections', 503)
    if (traffic.bytes() >= limits.bytes) refuseBeyond('bytes', 403)
  }

  /** Of all connections at once: a listener for each chunk would cost as much as passing it on. */
  function count(): void {
    for (const [socket, line] of sockets) {
      const moved = { sent: socket.bytesWritten - line.sent, received: socket.bytesRead - line.received }
      line.sent += moved.sent
      line.received += moved.received
      if (moved.sent + moved.received > 0) traffic.moved(line.target.host, line.target.port, moved)
    }
    if (traffic.bytes() <= limits.bytes) return
    onLimit('bytes')
    for (const socket of sockets.keys()) socket.destroy()
  }

  function watch(socket: Socket, target: GateTarget): Socket {
    timer ??= setInterval(count, countMs).unref()
    sockets.set(socket, { target, sent: 0, received: 0 })
    socket.once('close', () => {
      count()
      sockets.delete(socket)
      if (sockets.size > 0) return
      clearInterval(timer)
      timer = undefined
    })
    traffic.opened(target.host, target.port)
    return socket
  }

  async function openJudged(target: GateTarget, { isJudged, to }: Dialing): Promise<Socket> {
    if (!isJudged) await judgeName(target, options)
    requireRoom()
    opening += 1
    try {
      return watch(await open(target, await findAddresses(target, options), { ...options, to }), target)
    } finally {
      opening -= 1
    }
  }

  function countRefusal({ host, port }: GateTarget, refusal: GateRefusal): GateRefusal {
    if (!(refusal instanceof BeyondLimit)) traffic.refused(host, port, refusal.message, refusal.isUnlisted)
    return refusal
  }

  return {
    async dial(target, dialing = {}) {
      try {
        return await openJudged(target, dialing)
      } catch (error) {
        throw countRefusal(target, error as GateRefusal)
      }
    },
    judge(target) {
      if (options.judge(target.host, target.port) === 'refuse') throw countRefusal(target, refuseUnlisted(target))
    },
    refuse: ({ host, port }, reason) => traffic.refused(host, port, reason),
    close() {
      count()
      clearInterval(timer)
      for (const socket of sockets.keys()) socket.destroy()
      traffic.flush()
    },
  }
}
