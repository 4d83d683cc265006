// What is remembered of an answer while it is passed on: its beginning, its last pieces and its length. By reference, and
// nothing is looked into while the bytes go by.

/** Bytes from the beginning that an estimate looks into. */
const beginningBytes = 32_768
/** Signs of life may come alone; what stands in so many last pieces tells where an answer has got to. */
const lastPieces = 3

export type AnswerShape = { isStream: boolean; isPacked: boolean }

export class PassedAnswer {
  readonly isStream: boolean
  /** In an encoding that nobody here undoes. */
  readonly isPacked: boolean
  readonly #first: Buffer[] = []
  readonly #last: Buffer[] = []
  #firstBytes = 0
  #bytes = 0
  #pieces = 0

  constructor({ isStream, isPacked }: AnswerShape) {
    this.isStream = isStream
    this.isPacked = isPacked
  }

  /** A piece that has gone out. */
  push(piece: Buffer): void {
    this.#bytes += piece.length
    this.#last[this.#pieces % lastPieces] = piece
    this.#pieces += 1
    if (this.#firstBytes >= beginningBytes) return
    this.#first.push(piece)
    this.#firstBytes += piece.length
  }

  get bytes(): number {
    return this.#bytes
  }

  beginning(): Buffer {
    return Buffer.concat(this.#first)
  }

  ending(): Buffer {
    const at = this.#pieces % lastPieces
    return Buffer.concat([...this.#last.slice(at), ...this.#last.slice(0, at)])
  }
}
