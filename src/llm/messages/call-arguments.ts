// The arguments of a tool call as they arrive: where the JSON object ends, and whether something follows that belongs to
// another call.

const backslash = '\\'

export class ArgumentsText {
  #depth = 0
  #inText = false
  #escaped = false
  /** The object is complete. */
  isWhole = false

  /** How many characters of `text` belong to this object; what follows it counts only when it opens another object. */
  take(text: string): number {
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
