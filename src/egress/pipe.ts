// Pipes: bytes to one origin over a pool of kept-alive connections, each dialled under the policy. No streams, no
// promises per request.
import type { Dispatcher, Pool } from 'undici'
import { BoundedMap } from '../lib/bounded-map.ts'
import type { BytePipe, EgressPolicy, PipeControl, PipeRequest, PipeSink } from '../ports/service/egress.ts'
import { checkDestination } from './destination.ts'
import { createConnector, loadUndici, type Resolve } from './dialer.ts'
import { explainFailure, wasCutOff } from './failures.ts'

const maxPools = 64
const maxChecked = 256
/** A model may think for long before the first byte, and between two of them. */
const silenceMs = 1_800_000
/** Servers that close earlier say so; connections that they close unannounced are replaced. */
const keepAliveMs = 60_000

export type Pipes = {
  open(url: string, policy: EgressPolicy): Promise<BytePipe>
  close(): Promise<void>
}

/** After a request was abandoned, its events are ignored. */
class SinkHandler implements Dispatcher.DispatchHandler {
  readonly #sink: PipeSink
  readonly #host: string
  #controller: Dispatcher.DispatchController | undefined
  #answered = false
  #over = false

  constructor(sink: PipeSink, host: string) {
    this.#sink = sink
    this.#host = host
  }

  abort(): void {
    if (this.#over) return
    this.#over = true
    this.#controller?.abort(new Error('given up'))
  }

  resume(): void {
    if (!this.#over) this.#controller?.resume()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#over) controller.abort(new Error('given up'))
  }

  onResponseStart(_controller: unknown, status: number, headers: Record<string, string | string[] | undefined>): void {
    if (status < 200 || this.#over) return
    this.#answered = true
    this.#sink.head(status, headers)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#over && !this.#sink.data(chunk)) controller.pause()
  }

  onResponseEnd(): void {
    if (this.#over) return
    this.#over = true
    this.#sink.end()
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (this.#over) return
    this.#over = true
    this.#sink.fail(explainFailure(error, this.#host), !this.#answered && wasCutOff(error))
  }
}

/** A shorter body may stay in memory: handing it out as a stream costs as much as the rest of sending it. */
const shortBytes = 4096

/** The body, handed out once: undici keeps what it was given until the answer has ended. */
function* giveOnce(pending: { body: Buffer | undefined }): Generator<Buffer> {
  const { body } = pending
  pending.body = undefined
  if (body !== undefined) yield body
}

function dropWhenWritten({ headers, body }: PipeRequest) {
  return {
    headers: body === undefined ? headers : [...headers, 'content-length', String(body.byteLength)],
    body: giveOnce({ body }) as unknown as Dispatcher.DispatchOptions['body'],
  }
}

function createPipe(pool: Pool, host: string): BytePipe {
  return {
    send(request: PipeRequest, sink: PipeSink): PipeControl {
      const handler = new SinkHandler(sink, host)
      const { method, path, headers, body = null } = request
      const isLong = (body?.byteLength ?? 0) > shortBytes
      const sent = request.dropsBody && isLong ? dropWhenWritten(request) : { headers, body }
      pool.dispatch({ method: method as Dispatcher.HttpMethod, path, ...sent }, handler)
      return handler
    },
  }
}

function writeRules({ allowNetworks, deny, allowedHosts, trusted }: EgressPolicy): string {
  return JSON.stringify([allowNetworks, deny, allowedHosts, trusted])
}

type Destination = { origin: string; host: string }

/** The check depends only on the address and the rules, so its result stays valid. */
function createChecks(): (url: string, policy: EgressPolicy, rules: string) => Destination {
  const known = new BoundedMap<string, Destination>({ max: maxChecked })
  return (url, policy, rules) => {
    const key = `${rules} ${url}`
    const found = known.get(key)
    if (found !== undefined) return found
    const { origin, host } = checkDestination(url, policy)
    known.set(key, { origin, host })
    return { origin, host }
  }
}

export function createPipes(resolve: Resolve): Pipes {
  // The oldest are not closed: users of the pipe may continue, and idle connections end by themselves.
  const pools = new BoundedMap<string, Promise<Pool>>({ max: maxPools })
  const check = createChecks()

  async function makePool(origin: string, policy: EgressPolicy): Promise<Pool> {
    const { Pool } = await loadUndici()
    const connect = await createConnector(policy, resolve)
    const timeouts = { headersTimeout: silenceMs, bodyTimeout: silenceMs, keepAliveTimeout: keepAliveMs }
    return new Pool(origin, { connect, pipelining: 1, ...timeouts })
  }

  /** Connections are only shared under the same rules. */
  function poolFor(origin: string, policy: EgressPolicy, rules: string): Promise<Pool> {
    const key = `${rules} ${origin}`
    const pool = pools.get(key) ?? makePool(origin, policy)
    pools.set(key, pool)
    return pool
  }

  return {
    async open(url, policy) {
      const rules = writeRules(policy)
      const { origin, host } = check(url, policy, rules)
      return createPipe(await poolFor(origin, policy, rules), host)
    },
    async close() {
      const open = [...pools]
      pools.clear()
      await Promise.all(open.map(async ([, pool]) => (await pool).destroy()))
    },
  }
}
