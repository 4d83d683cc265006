// The router away, or something else in its place.
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { systemIds } from '../../lib/system-clock.ts'
import { WorkspaceError } from '../../ports/workspaces/execution-workspaces.ts'
import { createRouterShell } from './router-shell.ts'

const closing: (() => void)[] = []
function closeAll(): void {
  for (const close of closing.splice(0)) close()
}
afterEach(closeAll)

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const place = { namespace: 'team-a', sandbox: 'box', pod: 'box', container: 'main', podIP: '10.1.2.3' }
const script = { text: 'true', timeoutMs: 2000, maxBytes: 1000 }

async function ask(url: string, changes: Partial<typeof script> = {}, token?: string) {
  return createRouterShell({ url, token, fetch, ids: systemIds }).run(place, { ...script, ...changes })
}

async function failureOf(work: Promise<unknown>): Promise<WorkspaceError> {
  const error = await work.then(
    () => undefined,
    (failure: unknown) => failure,
  )
  expect(error).toBeInstanceOf(WorkspaceError)
  return error as WorkspaceError
}

/** What the runtime says to an upload; then `answer`. */
function runtime(answer: RequestListener): RequestListener {
  return (request, response) => {
    request.resume()
    if (request.url !== '/upload') return answer(request, response)
    response.end('{"message":"File uploaded successfully."}')
  }
}

const json = (value: object): RequestListener =>
  runtime((_request, response) => void response.end(JSON.stringify(value)))

describe('the router of sandboxes', () => {
  it('is told where the sandbox is, and who asks; nothing of the script is in what it logs', async () => {
    const seen: { url: string | undefined; headers: object; body: string }[] = []
    const url = await serve((request, response) => {
      let body = ''
      request.on('data', (chunk) => {
        body += chunk
      })
      request.on('end', () => {
        seen.push({ url: request.url, headers: request.headers, body })
        response.end(JSON.stringify({ stdout: 'out', stderr: 'err', exit_code: 3 }))
      })
    })
    const answer = await ask(url, { text: 'echo secret-word' }, 'router-token')
    expect(answer).toEqual({ code: 3, stdout: Buffer.from('out'), stderr: 'err' })
    expect(seen.map((each) => each.url)).toEqual(['/upload', '/execute'])
    for (const { headers } of seen) {
      expect(headers).toMatchObject({
        'x-sandbox-id': 'box',
        'x-sandbox-namespace': 'team-a',
        'x-sandbox-port': '8888',
        'x-sandbox-pod-ip': '10.1.2.3',
        authorization: 'Bearer router-token',
      })
    }
    expect(seen[0]?.body).toContain('secret-word')
    expect(seen[1]?.body).not.toContain('secret-word')
  })

  it('is away, or does not answer in time', async () => {
    const url = await serve(() => undefined)
    expect(await failureOf(ask(url, { timeoutMs: 50 }))).toMatchObject({ reason: 'ProviderUnavailable' })
    closeAll()
    expect(await failureOf(ask(url))).toMatchObject({ reason: 'ProviderUnavailable' })
  })

  it('does not let the service in, or does not reach the sandbox', async () => {
    const answer = (status: number) =>
      serve((request, response) => {
        request.resume()
        response.writeHead(status).end(JSON.stringify({ detail: `it is ${status}` }))
      })
    for (const status of [401, 403, 500, 502, 504]) {
      const error = await failureOf(ask(await answer(status)))
      expect(error).toMatchObject({
        reason: 'ProviderUnavailable',
        message: expect.stringContaining(`it is ${status}`),
      })
    }
    expect(await failureOf(ask(await answer(400)))).toMatchObject({ reason: 'ProtocolError' })
    expect(await failureOf(ask(await answer(404)))).toMatchObject({ reason: 'ProtocolError' })
  })

  it('answers what nobody understands', async () => {
    const answers = ['<html>welcome</html>', '{"stdout":1}', '{"stdout":"","stderr":"","exit_code":"0"}', '', 'null']
    for (const text of answers) {
      const url = await serve(runtime((_request, response) => void response.end(text)))
      expect(await failureOf(ask(url))).toMatchObject({ reason: 'ProtocolError' })
    }
    const elsewhere = await serve((request, response) => {
      request.resume()
      response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()
    })
    expect(await failureOf(ask(elsewhere))).toBeInstanceOf(WorkspaceError)
  })

  it('floods, or never ends', async () => {
    const whole = await serve(json({ stdout: 'x'.repeat(2000), stderr: '', exit_code: 0 }))
    expect(await failureOf(ask(whole))).toMatchObject({ reason: 'ProtocolError' })
    const endless = await serve(
      runtime((_request, response) => {
        const send = () => {
          while (!response.destroyed && response.write('x'.repeat(64 * 1024)));
          if (!response.destroyed) response.once('drain', send)
        }
        send()
      }),
    )
    expect(await failureOf(ask(endless))).toMatchObject({ reason: 'ProtocolError' })
    const slow = await serve(runtime((_request, response) => void response.write('{"stdout":"')))
    expect(await failureOf(ask(slow, { timeoutMs: 100 }))).toMatchObject({ reason: 'ProviderUnavailable' })
  })
})
