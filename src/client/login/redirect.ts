// Waits on loopback for the browser to return with the code (RFC 8252 section 7.3): takes one answer, then closes.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onAbort } from '../../lib/abort.ts'

export type Redirect = {
  /** What the issuer sends the browser to. */
  url: string
  /** The address the browser came to; rejects when the signal aborts. */
  answer: Promise<URL>
  close(): void
}

const frame = (body: string) => `<!doctype html><meta charset="utf-8"><title>svc</title>${body}`
const path = '/callback'

export type RedirectPages = {
  /** Said in the browser once it has come back. */
  done: string
  failed: string
  /** Body of the page at which the person begins, if it is one of ours; served at `/` with the `state`. */
  start?: ((redirectUrl: string) => string) | undefined
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
}

function choosePage(pages: RedirectPages, { pathname, searchParams }: URL, redirectUrl: string): string | undefined {
  if (pathname === '/') return pages.start?.(redirectUrl)
  if (pathname !== path) return undefined
  return `<p>${searchParams.has('code') ? pages.done : pages.failed}</p>`
}

/** Refuses answers for another login (another `state`), so that no web page can end this one. */
export async function listenForCode(state: string, signal: AbortSignal, pages: RedirectPages): Promise<Redirect> {
  const { promise: answer, resolve, reject } = Promise.withResolvers<URL>()
  const server = createServer((request, response) => {
    const target = new URL(request.url ?? '/', url)
    const body = target.searchParams.get('state') === state ? choosePage(pages, target, url) : undefined
    if (body === undefined) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', connection: 'close' })
    response.end(frame(body))
    if (target.pathname === path) resolve(target)
  })
  const url = await listen(server)
  const removeListener = onAbort(signal, () => reject(signal.reason))
  // After giving up, nobody waits for the answer.
  answer.catch(() => undefined)
  return {
    url,
    answer,
    close() {
      removeListener()
      server.close()
      server.closeIdleConnections()
    },
  }
}
