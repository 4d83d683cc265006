import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, vi } from 'vitest'
import { openTraces } from './traces.ts'

const log = { info: vi.fn(), warn: vi.fn() }
const span = { name: 'chat m', startMs: 0, endMs: 1, attributes: {} }

it('sends the headers of the owner to the collector', async () => {
  const seen: IncomingHttpHeaders[] = []
  const server = createServer((request, response) => {
    seen.push(request.headers)
    request.resume().on('end', () => response.end('{}'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const otlpEndpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const traces = openTraces({ otlpEndpoint, otlpHeaders: 'authorization=Basic%20YTpi, x-team = search' }, log)
  traces?.record(span)
  await traces?.close()
  server.close()
  expect(seen).toMatchObject([{ authorization: 'Basic YTpi', 'x-team': 'search', 'content-type': 'application/json' }])
})

it.each(['novalue', '=x', 'a b=c', 'a=%zz'])('refuses headers that are none: %s', (otlpHeaders) => {
  expect(() => openTraces({ otlpEndpoint: 'http://127.0.0.1:1', otlpHeaders }, log)).toThrow('name=value pairs')
})

it('says once when the collector begins to refuse, with its reason, and once when it takes everything again', async () => {
  const answers = [
    { status: 401, text: 'no such key' },
    { status: 401, text: 'no such key' },
    { status: 200, text: '{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}}' },
    { status: 200, text: '{"partialSuccess":{}}' },
  ]
  const server = createServer((request, response) => {
    const { status, text } = answers.shift() ?? { status: 200, text: '' }
    request.resume().on('end', () => response.writeHead(status).end(text))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const otlpEndpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const traces = openTraces({ otlpEndpoint, otlpHeaders: undefined }, log)
  const send = async () => {
    traces?.record(span)
    await traces?.close()
  }
  while (answers.length > 0) await send()
  const path = '/v1/traces'
  const lost = 'the collector does not take what is sent, which is lost'
  expect(log.warn.mock.calls).toEqual([
    [{ path, reason: 'it answered 401: no such key' }, lost],
    [{ path, reason: 'too old' }, lost],
  ])
  expect(log.info.mock.calls).toEqual([[{ path }, 'the collector takes what is sent again']])
  server.close()
  server.closeAllConnections()
  await send()
  expect(log.warn).toHaveBeenLastCalledWith({ path, reason: expect.any(String) }, lost)
})
