// The input of a custom tool, out of the arguments of the function that stands in for it: `{"input":"…"}`.
import { parseForeignObject } from '../../contract/schema/foreign-json.ts'

const opening = /^\s*\{\s*"input"\s*:\s*"/

/** Where the escape at `at` ends: a high surrogate belongs to the one after it. */
function escapeLength(json: string, at: number): number {
  if (json[at + 1] !== 'u') return 2
  return /^\\ud[89ab]/i.test(json.slice(at, at + 6)) ? 12 : 6
}

/** Models write line breaks as they are. */
function readString(text: string): string {
  const json = text.replaceAll(/\p{Cc}/gu, (character) => JSON.stringify(character).slice(1, -1))
  try {
    return JSON.parse(`"${json}"`) as string
  } catch {
    return ''
  }
}

export type FreeText = {
  /** A fragment of the arguments; the text that it adds. */
  push(fragment: string): string
  /** The whole text, once the arguments are complete: they themselves when they have another form. */
  end(): string
}

export function createFreeText(): FreeText {
  let json = ''
  let read = ''
  /** Where the text goes on; undefined: before it. */
  let at: number | undefined

  function findEnd(from: number): number {
    let end = from
    while (end < json.length && json[end] !== '"') {
      const length = json[end] === '\\' ? escapeLength(json, end) : 1
      if (end + length > json.length) return end
      end += length
    }
    return end
  }

  return {
    push(fragment) {
      json += fragment
      at ??= opening.exec(json)?.[0].length
      if (at === undefined || json[at] === '"') return ''
      const end = findEnd(at)
      const text = readString(json.slice(at, end))
      at = end
      read += text
      return text
    },
    end() {
      const input = parseForeignObject(json)?.input
      return typeof input === 'string' ? input : read || (json.trim() === '{}' ? '' : json)
    },
  }
}
