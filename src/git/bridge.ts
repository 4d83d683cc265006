// Between git's protocol over a pipe and over HTTP: what git writes becomes requests, answers become what it reads.
import type { Duplex } from 'node:stream'
import { CheckoutError } from '../ports/workspaces/checkouts.ts'
import type { Remote } from './command.ts'
import { endOfFlush, flush } from './pkt-lines.ts'
import type { Greeting } from './server.ts'

const flushLength = 4
/** The wants and haves of a fetch: a line for each. */
const longestRequest = 64 * 1024 ** 2

async function write(pipe: Duplex, chunk: Uint8Array): Promise<void> {
  if (pipe.destroyed || pipe.write(chunk)) return
  await new Promise<void>((resolve) => {
    const go = () => {
      pipe.off('drain', go).off('close', go)
      resolve()
    }
    pipe.on('drain', go).on('close', go)
  })
}

/** Requests of protocol version 2: each ends with a flush, and none depends on those before. */
async function* readRequests(pipe: Duplex): AsyncGenerator<Buffer> {
  let held = Buffer.alloc(0)
  for await (const chunk of pipe as AsyncIterable<Buffer>) {
    held = Buffer.concat([held, chunk])
    for (let end = endOfFlush(held); end !== undefined; end = endOfFlush(held)) {
      yield held.subarray(0, end)
      held = held.subarray(end)
    }
    if (held.length > longestRequest) throw new CheckoutError('TooLarge', 'The history of the repository is too long.')
  }
}

function tooLarge(bytes: number): CheckoutError {
  const message = `The repository is larger than the limit of ${bytes} bytes. Raise the limit, or use a smaller one.`
  return new CheckoutError('TooLarge', message)
}

/** For `git fetch`. At most `bytes` are answered. */
export function bridgeFetch(greeting: Greeting, bytes: number, signal: AbortSignal): Remote {
  return async (pipe) => {
    let left = bytes
    const answer = async (request: Buffer) => {
      let end = Buffer.alloc(0)
      for await (const chunk of await greeting.post(request, signal)) {
        left -= chunk.byteLength
        if (left < 0) throw tooLarge(bytes)
        await write(pipe, chunk)
        end = Buffer.concat([end, chunk.subarray(-flushLength)]).subarray(-flushLength)
      }
      return end.equals(flush)
    }
    await write(pipe, greeting.frames)
    for await (const request of readRequests(pipe)) {
      // A lone flush ends the conversation; so does a server that stops before the end of its answer.
      if (request.length === flushLength || !(await answer(request))) break
    }
    pipe.end()
  }
}

/** For `git push`: all that git writes is one request. */
export function bridgePush(greeting: Greeting, bytes: number, signal: AbortSignal): Remote {
  return async (pipe) => {
    await write(pipe, greeting.frames)
    const parts: Buffer[] = []
    let size = 0
    for await (const chunk of pipe as AsyncIterable<Buffer>) {
      parts.push(chunk)
      size += chunk.length
      if (size > bytes)
        throw new CheckoutError('TooLarge', `The change is larger than ${bytes} bytes. Push less at once.`)
    }
    // Only a flush: git found nothing to send, or refused to.
    if (size > flushLength) {
      for await (const chunk of await greeting.post(Buffer.concat(parts), signal)) await write(pipe, chunk)
    }
    pipe.end()
  }
}
