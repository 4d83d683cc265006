// What a TLS client says first, in the clear: which server it wants (RFC 8446 section 4.1.2, RFC 6066 section 3).

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

export function readClientHello(bytes: Buffer): ClientHello {
  const message = readMessage(bytes)
  if (message === 'wait' || message === 'bad') return message
  try {
    return readExtensions(message)
  } catch {
    return 'bad'
  }
}
