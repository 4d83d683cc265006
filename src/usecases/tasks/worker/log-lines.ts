// Splits a stream of bytes into lines as they arrive.
import { StringDecoder } from 'node:string_decoder'

/** A line without an end is cut at this length, so that nothing is held back forever. */
const longestLine = 64 * 1024

/** In pieces that are not too long, one at least. */
export function splitLong(line: string): string[] {
  const parts: string[] = []
  for (let at = 0; at < line.length; at += longestLine) parts.push(line.slice(at, at + longestLine))
  return parts.length === 0 ? [''] : parts
}

/** Whole lines without their line ends, and what has come of the next. */
export type CutText = { lines: string[]; rest: string }

/** One for each piece of the body, also for one that ends no line. */
export async function* cutLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<CutText> {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  for await (const chunk of body) {
    const lines = (rest + decoder.write(Buffer.from(chunk))).split('\n')
    rest = lines.pop() ?? ''
    const whole = lines.flatMap((line) => splitLong(line.replace(/\r$/, '')))
    while (rest.length >= longestLine) {
      whole.push(rest.slice(0, longestLine))
      rest = rest.slice(longestLine)
    }
    yield { lines: whole, rest }
  }
  const broken = decoder.end()
  if (broken !== '') yield { lines: [], rest: rest + broken }
}
