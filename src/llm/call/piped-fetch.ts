// The part of fetch that vendor calls need, over the egress room's pipes: a fraction of fetch's work per call.
import { onAbort } from '../../lib/abort.ts'
import type { BytePipe, Egress, EgressPolicy, PipeControl, PipeRequest, PipeSink } from '../../ports/service/egress.ts'

/** Redirects are not followed: the vendor's first answer is the answer. */
export type VendorInit = {
  method: 'POST'
  redirect: 'manual'
  headers: Record<string, string>
  body: string
  signal: AbortSignal
}

type Part = { done: boolean; value?: Uint8Array | undefined }

/** `cancel` gives the connection up. */
export type VendorReader = { read(): Promise<Part>; cancel(): Promise<unknown> }

export type VendorResponse = {
  ok: boolean
  status: number
  headers: Pick<Headers, 'get'>
  body: { getReader(): VendorReader } | null
}

/** `fetch` itself is one. */
export type VendorFetch = (url: string, init: VendorInit) => Promise<VendorResponse>

type Head = Record<string, string | string[] | undefined>

/** Bytes that may wait for the reader before the connection is paused. */
const highWater = 262_144

/** The body as it arrives: pushed by the connection, pulled by the reader. */
function createBody(control: () => PipeControl | undefined) {
  const parts: Uint8Array[] = []
  let size = 0
  let end: { error?: unknown } | undefined
  let wake: (() => void) | undefined

  function settle(): void {
    wake?.()
    wake = undefined
  }

  /** All that waits, in one piece. */
  function take(): Part {
    const [first, ...others] = parts.splice(0)
    const value = others.length === 0 ? first : Buffer.concat([first as Uint8Array, ...others])
    size = 0
    control()?.resume()
    return { done: false, value }
  }

  function next(): Part {
    if (parts.length > 0) return take()
    if (end?.error !== undefined) throw end.error
    return { done: true }
  }

  const reader: VendorReader = {
    async read() {
      if (parts.length === 0 && end === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      return next()
    },
    async cancel() {
      end ??= {}
      parts.length = 0
      control()?.abort()
      settle()
    },
  }
  return {
    reader,
    push(chunk: Uint8Array): boolean {
      parts.push(chunk)
      size += chunk.byteLength
      settle()
      return size < highWater
    },
    finish(error?: unknown): void {
      end ??= { error }
      settle()
    },
  }
}

function readHeader(headers: Head, name: string): string | null {
  const value = headers[name]
  return (Array.isArray(value) ? value[0] : value) ?? null
}

const again = Symbol('again')

/** `again`: the other side closed the kept-alive connection before it accepted the request. */
function sendOnce(pipe: BytePipe, url: URL, init: VendorInit): Promise<VendorResponse | typeof again> {
  return awaitAnswer(init.signal, (sink) => pipe.send(toPipeRequest(url, init), sink))
}

/** No closure in here captures `send`, and with it the request: a stream may run for long. */
function awaitAnswer(
  signal: AbortSignal,
  send: (sink: PipeSink) => PipeControl,
): Promise<VendorResponse | typeof again> {
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<VendorResponse | typeof again>()
  let control: PipeControl | undefined
  const body = createBody(() => control)
  const removeListener = onAbort(signal, () => {
    control?.abort()
    reject(signal.reason)
    body.finish(signal.reason)
  })
  const finish = (error?: unknown) => {
    removeListener()
    body.finish(error)
  }
  control = send({
    head(status, headers) {
      const get = (name: string) => readHeader(headers, name)
      const isOk = status >= 200 && status < 300
      resolve({ ok: isOk, status, headers: { get }, body: { getReader: () => body.reader } })
    },
    data: body.push,
    end: finish,
    fail(error, retry) {
      finish(error)
      if (retry) resolve(again)
      else reject(error)
    },
  })
  return promise
}

function toPipeRequest(url: URL, { method, headers, body }: VendorInit): PipeRequest {
  const path = url.pathname + url.search
  return { method, path, headers: Object.entries(headers).flat(), body: Buffer.from(body), dropsBody: true }
}

export function createPipedFetch(egress: Pick<Egress, 'openPipe' | 'fetchWith'>, policy: EgressPolicy): VendorFetch {
  return async (url, init) => {
    init.signal.throwIfAborted()
    const pipe = await egress.openPipe(url, policy)
    init.signal.throwIfAborted()
    const target = new URL(url)
    const first = await sendOnce(pipe, target, init)
    const answer = first === again ? await sendOnce(pipe, target, init) : first
    return answer === again ? egress.fetchWith(policy)(url, init) : answer
  }
}
