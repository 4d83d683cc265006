// Waits on loopback for the browser to return with the code (RFC 8252 section 7.3): takes one answer, then closes.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Redirect = {
  /** What the issuer sends the browser to. */
  url: string
  /** The address the browser came to; rejects when the signal aborts. */
  answer: Promise<URL>
  close(): void
}

const page = '<!doctype html><meta charset="utf-8"><title>svc</title><p>You are logged in. You can close this page.</p>'
const failedPage = '<!doctype html><meta charset="utf-8"><title>svc</title><p>The login failed. See the terminal.</p>'
const path = '/callback'

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
}

/** Refuses answers for another login (another `state`), so that no web page can end this one. */
export async function listenForCode(state: string, signal: AbortSignal): Promise<Redirect> {
  const { promise: answer, resolve, reject } = Promise.withResolvers<URL>()
  const server = createServer((request, response) => {
    const target = new URL(request.url ?? '/', url)
    if (target.pathname !== path || target.searchParams.get('state') !== state)
      return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', connection: 'close' })
    response.end(target.searchParams.has('code') ? page : failedPage)
    resolve(target)
  })
  const url = await listen(server)
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  // After giving up, nobody waits for the answer.
  answer.catch(() => undefined)
  return {
    url,
    answer,
    close() {
      signal.removeEventListener('abort', abort)
      server.close()
      server.closeIdleConnections()
    },
  }
}
