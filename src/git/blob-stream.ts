// Cuts what `git cat-file --batch` prints into the contents of objects, without holding more than one of them.

/** `ID TYPE SIZE\n`, the bytes, `\n`; or `ID missing\n`. */
export class BlobStream {
  readonly #take: (at: number, content: Buffer | undefined) => void
  #held: Buffer[] = []
  #size = 0
  /** Bytes of the object that is being read, with its last line end; undefined: its head comes next. */
  #wanted: number | undefined
  #at = 0

  constructor(take: (at: number, content: Buffer | undefined) => void) {
    this.#take = take
  }

  add(chunk: Buffer): void {
    this.#held.push(chunk)
    this.#size += chunk.length
    if (this.#wanted !== undefined && this.#size < this.#wanted) return
    let bytes = this.#held.length === 1 ? chunk : Buffer.concat(this.#held)
    for (let rest = this.#cut(bytes); rest !== undefined; rest = this.#cut(bytes)) bytes = rest
    this.#held = [bytes]
    this.#size = bytes.length
  }

  /** What follows the head or the object that `bytes` begins with; undefined: it is not all here. */
  #cut(bytes: Buffer): Buffer | undefined {
    return this.#wanted === undefined ? this.#readHead(bytes) : this.#readBody(bytes, this.#wanted)
  }

  #readHead(bytes: Buffer): Buffer | undefined {
    const end = bytes.indexOf(10)
    if (end < 0) return undefined
    const [, , size] = bytes.subarray(0, end).toString('latin1').split(' ')
    if (size === undefined) this.#take(this.#at++, undefined)
    else this.#wanted = Number(size) + 1
    return bytes.subarray(end + 1)
  }

  #readBody(bytes: Buffer, wanted: number): Buffer | undefined {
    if (bytes.length < wanted) return undefined
    this.#take(this.#at++, bytes.subarray(0, wanted - 1))
    this.#wanted = undefined
    return bytes.subarray(wanted)
  }
}
