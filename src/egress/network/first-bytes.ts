// What a client begins a tunnel with: only what can be judged by the name that it asked for goes on. A TLS client says first, in
// the clear, which server it wants (RFC 8446 section 4.1.2, RFC 6066 section 3).
import { normalizeHost } from '../../contract/values/network-names.ts'

/** `wait`: not all of it is there yet. `bad`: it is none, or hides the name by a means that is no longer in use. */
type ClientHello = { serverName: string | undefined } | 'wait' | 'bad'

const handshakeRecord = 22
const clientHelloMessage = 1
const serverNameExtension = 0
/** The draft of encrypted server names that came before ECH: nothing else says where it leads. */
const encryptedNameExtension = 0xffce
/** Of the handshake message; clients with post-quantum keys send less than 2 KiB. */
const maxHelloBytes = 32_768

class Reader {
  #at = 0
  readonly #bytes: Buffer
  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  take(count: number): Buffer {
    if (count > this.left) throw new RangeError('too short')
    this.#at += count
    return this.#bytes.subarray(this.#at - count, this.#at)
  }

  number(bytes: number): number {
    return this.take(bytes).readUIntBE(0, bytes)
  }

  /** What follows its own length. */
  part(lengthBytes: number): Buffer {
    return this.take(this.number(lengthBytes))
  }
}

/** The body of the message, once the fragments so far have all of it. */
function joinMessage(fragments: readonly Buffer[]): Buffer | 'wait' | 'bad' {
  const joined = Buffer.concat(fragments)
  if (joined.length < 4) return 'wait'
  const end = 4 + joined.readUIntBE(1, 3)
  if (joined[0] !== clientHelloMessage || end > maxHelloBytes) return 'bad'
  return joined.length >= end ? joined.subarray(4, end) : 'wait'
}

/** Joins the records that the message is spread over. */
function readMessage(bytes: Buffer): Buffer | 'wait' | 'bad' {
  const fragments: Buffer[] = []
  let at = 0
  while (bytes.length - at >= 5) {
    const size = bytes.readUInt16BE(at + 3)
    if (bytes[at] !== handshakeRecord || bytes[at + 1] !== 3 || size === 0) return 'bad'
    fragments.push(bytes.subarray(at + 5, at + 5 + size))
    at += 5 + size
    const message = joinMessage(fragments)
    if (message !== 'wait') return message
  }
  return bytes.length > maxHelloBytes * 2 ? 'bad' : 'wait'
}

function readNames(list: Buffer): string | undefined {
  const names = new Reader(new Reader(list).part(2))
  let name: string | undefined
  while (names.left > 0) {
    const type = names.number(1)
    const value = names.part(2)
    if (type === 0 && name !== undefined) throw new RangeError('two names')
    if (type === 0) name = value.toString('latin1')
  }
  return name
}

function readExtensions(body: Buffer): ClientHello {
  const hello = new Reader(body)
  hello.take(34)
  hello.part(1)
  hello.part(2)
  hello.part(1)
  if (hello.left === 0) return { serverName: undefined }
  const extensions = new Reader(hello.part(2))
  const seen = new Set<number>()
  let serverName: string | undefined
  while (extensions.left > 0) {
    const type = extensions.number(2)
    const data = extensions.part(2)
    if (seen.has(type) || type === encryptedNameExtension) return 'bad'
    seen.add(type)
    if (type === serverNameExtension) serverName = readNames(data)
  }
  return { serverName }
}

function readClientHello(bytes: Buffer): ClientHello {
  const message = readMessage(bytes)
  if (message === 'wait' || message === 'bad') return message
  try {
    return readExtensions(message)
  } catch {
    return 'bad'
  }
}

/** `raw`: no protocol that names another host. `http`: each of its requests is judged. `refuse`: nothing is passed on. */
type FirstBytes = 'wait' | 'raw' | 'http' | { refuse: string }

const maxMethodLength = 32
/** Ports of servers that read nothing but the protocols below. */
const httpPorts = [80, 443]

function judgeHello(bytes: Buffer, host: string, isName: boolean): FirstBytes {
  const hello = readClientHello(bytes)
  if (hello === 'wait') return 'wait'
  if (hello === 'bad') return { refuse: 'its TLS greeting cannot be read' }
  const { serverName } = hello
  if (serverName === undefined) return isName ? { refuse: 'its TLS greeting names no server' } : 'raw'
  return normalizeHost(serverName) === host ? 'raw' : { refuse: 'its TLS greeting names another server' }
}

/** RFC 9112 section 2.2: servers pass over empty lines before a request. */
const requestStart = /^[\r\n]*([!#$%&'*+.^_`|~0-9A-Za-z-]*)([\s\S]?)/

export function judgeFirstBytes(
  bytes: Buffer,
  { host, port, isName }: { host: string; port: number; isName: boolean },
): FirstBytes {
  if (bytes.length === 0) return 'wait'
  if (bytes[0] === 22) return judgeHello(bytes, host, isName)
  const text = bytes.toString('latin1', 0, 256)
  return judgeSsh(text, port) ?? judgeRequest(text, port)
}

/** Undefined: it may be something else. */
function judgeSsh(text: string, port: number): FirstBytes | undefined {
  if (port !== 22 && !(port === 443 && text.startsWith('S'))) return undefined
  if ('SSH-'.startsWith(text.slice(0, 4))) return text.length < 4 ? 'wait' : 'raw'
  return port === 22 ? { refuse: 'it does not begin as SSH does' } : undefined
}

function judgeRequest(text: string, port: number): FirstBytes {
  const [, method = '', next = ''] = requestStart.exec(text) ?? []
  if (next === '' && method.length <= maxMethodLength && text.length < 256) return 'wait'
  if (method === 'PRI') return { refuse: 'HTTP/2 without TLS names a host in each of its streams' }
  if (method !== '' && (next === ' ' || next === '\t')) return 'http'
  return httpPorts.includes(port) ? { refuse: 'it begins neither as TLS nor as HTTP does' } : 'raw'
}
