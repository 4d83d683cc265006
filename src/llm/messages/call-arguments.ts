// The arguments of a tool call as they arrive: where the JSON object ends, whether something follows that belongs to
// another call, and what is new in a piece, since some servers repeat all so far in each.
import { parseForeignObject } from '../../contract/schema/foreign-json.ts'

const backslash = '\\'

export class ArgumentsText {
  #depth = 0
  #inText = false
  #escaped = false
  #text = ''
  #repeats = false
  /** A piece that may be new, or all so far and more. */
  #doubt: string | undefined
  /** The object is complete. */
  isWhole = false

  /** What a piece adds to the pieces before it; nothing while the next one must tell. */
  addition(piece: string): string {
    const doubtful = this.#doubt
    this.#doubt = undefined
    if (doubtful !== undefined && !piece.startsWith(doubtful)) return doubtful + piece
    if (!this.#isAgain(piece)) return piece
    // Where a value may begin, it may be one that begins as the object around it.
    if (!this.#repeats && doubtful === undefined && this.#awaitsValue()) {
      this.#doubt = piece
      return ''
    }
    this.#repeats = true
    return piece.slice(this.#text.length)
  }

  /** At the end, what was in doubt. */
  settle(): string {
    const doubtful = this.#doubt
    this.#doubt = undefined
    if (doubtful === undefined) return ''
    return parseForeignObject(doubtful) === undefined ? doubtful : doubtful.slice(this.#text.length)
  }

  #isAgain(piece: string): boolean {
    // Almost every piece is shorter.
    if (piece.length < this.#text.length || (this.isWhole && !this.#repeats)) return false
    return this.#text.trimStart().startsWith('{') && piece.startsWith(this.#text)
  }

  #awaitsValue(): boolean {
    return !this.#inText && [':', '[', ','].includes(this.#text.trimEnd().at(-1) ?? '')
  }

  /** How many characters of `text` belong to this object; what follows it counts only when it opens another object. */
  take(text: string): number {
    const own = this.#measure(text)
    this.#text += text.slice(0, own)
    return own
  }

  #measure(text: string): number {
    for (let at = 0; at < text.length && !this.isWhole; at += 1) {
      this.#read(text[at] as string)
      if (this.isWhole) return this.#endIn(text, at + 1)
    }
    return this.isWhole ? this.#endIn(text, 0) : text.length
  }

  #endIn(text: string, from: number): number {
    const next = /\S/.exec(text.slice(from))
    return next?.[0] === '{' ? from + next.index : text.length
  }

  #read(letter: string): void {
    if (this.#escaped) this.#escaped = false
    else if (this.#inText) this.#readInText(letter)
    else if (letter === '"') this.#inText = true
    else if (letter === '{' || letter === '[') this.#depth += 1
    else if (letter === '}' || letter === ']') {
      this.#depth -= 1
      this.isWhole = this.#depth <= 0
    }
  }

  #readInText(letter: string): void {
    if (letter === backslash) this.#escaped = true
    else if (letter === '"') this.#inText = false
  }
}
