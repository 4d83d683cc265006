// The dialer's fetch with an upper limit of bytes for each answer.
import { CodeHostError } from '../ports/codehost/code-host.ts'

async function readBounded(body: ReadableStream<Uint8Array>, mostBytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let left = mostBytes
  for await (const part of body) {
    left -= part.byteLength
    if (left < 0) {
      const most = `${Math.floor(mostBytes / 1024 / 1024)} MiB`
      throw new CodeHostError('TooLarge', `the code host's answer is larger than ${most}, which is all that is read`)
    }
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/**
 * `mostBytes` counts after decompression. The answer is read whole before it is passed on, because Octokit takes a body
 * that breaks off for an empty one.
 */
export function boundAnswers(dial: typeof globalThis.fetch, mostBytes: number): typeof globalThis.fetch {
  return async (input, init) => {
    const answer = await dial(input, init)
    if (answer.body === null) return answer
    const { status, statusText, headers } = answer
    const body = await readBounded(answer.body, mostBytes)
    return new Response(body.byteLength === 0 ? null : new Uint8Array(body), { status, statusText, headers })
  }
}
