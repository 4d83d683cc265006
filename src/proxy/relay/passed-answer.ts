// What is remembered of an answer while it is passed through: its beginning, its last pieces and its length. Pieces are
// kept by reference and not examined while the bytes go by.

/** How many bytes from the beginning an estimate examines. */
const beginningBytes = 32_768
/** Heartbeats may arrive alone; this many last pieces show how far an answer has got. */
const lastPieces = 3

export type AnswerShape = { isStream: boolean; isPacked: boolean }

export class PassedAnswer {
  readonly isStream: boolean
  /** In an encoding that is not decoded here. */
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

  /** A piece that has been sent. */
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
