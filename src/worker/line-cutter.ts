// Cuts a stream of bytes into lines.
import { StringDecoder } from 'node:string_decoder'

type LineCutter = { push(chunk: Buffer): string[]; end(): string[] }

/** A line longer than `longest` is left out as a whole: cut, it would say something else. */
export function createLineCutter(longest: number): LineCutter {
  const decoder = new StringDecoder('utf8')
  let parts: string[] = []
  let length = 0
  const add = (part: string) => {
    length += part.length
    if (length > longest) parts = []
    else parts.push(part)
  }
  const finish = () => {
    const line = length > longest ? '' : parts.join('')
    parts = []
    length = 0
    return line
  }
  return {
    push(chunk) {
      const [first = '', ...rest] = decoder.write(chunk).split('\n')
      const lines: string[] = []
      add(first)
      for (const part of rest) {
        lines.push(finish())
        add(part)
      }
      return lines.filter((line) => line !== '')
    },
    end() {
      add(decoder.end())
      return [finish()].filter((line) => line !== '')
    },
  }
}
