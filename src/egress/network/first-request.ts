// What a program says to its gate first. Only CONNECT is read here: it is by far the most frequent, and nothing of it but its first line
// is for anybody.
import type { Duplex } from 'node:stream'

/** `rest`: what follows its headers. */
export type ConnectRequest = { target: string; rest: Buffer }

/** `other`: a request of another method. `bad`: none at all. */
type FirstRequest = ConnectRequest | 'wait' | 'other' | 'bad'

const method = 'CONNECT '
const headEnd = '\r\n\r\n'
export const maxHeadBytes = 65_536
const versions = ['HTTP/1.1', 'HTTP/1.0']

/** `searched`: bytes that are known to have no end of the headers. */
function readConnect(bytes: Buffer, searched: number): FirstRequest {
  const begun = bytes.toString('latin1', 0, method.length)
  if (!method.startsWith(begun)) return 'other'
  const end = bytes.indexOf(headEnd, Math.max(0, searched - headEnd.length), 'latin1')
  if (end === -1) return bytes.length > maxHeadBytes ? 'bad' : 'wait'
  const [, target = '', version = '', ...more] = bytes.toString('latin1', 0, bytes.indexOf('\r\n')).split(' ')
  if (end > maxHeadBytes || more.length > 0 || !versions.includes(version)) return 'bad'
  return { target, rest: bytes.subarray(end + headEnd.length) }
}

type FirstRequestReader = {
  /** From whoever says too much, too slowly, or what is no request. */
  destroyAfterMs: number
  connect(request: ConnectRequest): void
  /** It is put back, and the client goes on once it is resumed. */
  other(): void
}

/** Calls one of both, once; the client is paused then. */
export function readFirstRequest(client: Duplex, { destroyAfterMs, connect, other }: FirstRequestReader): void {
  let first: Buffer = Buffer.alloc(0)
  const timer = setTimeout(() => client.destroy(), destroyAfterMs).unref()
  function take(chunk: Buffer): void {
    const searched = first.length
    first = searched === 0 ? chunk : Buffer.concat([first, chunk])
    const request = readConnect(first, searched)
    if (request === 'wait') return
    stop()
    client.pause()
    if (request === 'bad') client.destroy()
    else if (request !== 'other') connect(request)
    else {
      client.unshift(first)
      other()
    }
  }
  function stop(): void {
    clearTimeout(timer)
    client.off('data', take)
    client.off('end', give)
    client.off('close', stop)
  }
  function give(): void {
    client.destroy()
  }
  client.on('data', take)
  client.on('end', give)
  client.on('close', stop)
}
