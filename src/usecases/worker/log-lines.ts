// Cuts a stream of bytes into lines as they come.
import { StringDecoder } from 'node:string_decoder'

/** A line that does not end is cut here, so that nothing is held back for ever. */
const longestLine = 64 * 1024

function splitLong(line: string): string[] {
  const parts: string[] = []
  for (let at = 0; at < line.length; at += longestLine) parts.push(line.slice(at, at + longestLine))
  return parts.length === 0 ? [''] : parts
}

/** Batches of whole lines without their line ends; the last batch holds what has no line end. */
export async function* cutLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
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
    if (whole.length > 0) yield whole
  }
  rest += decoder.end()
  if (rest !== '') yield splitLong(rest)
}
