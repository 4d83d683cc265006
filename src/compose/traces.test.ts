import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { openTraces } from './traces.ts'

it('sends the headers of the owner to the collector', async () => {
  const seen: IncomingHttpHeaders[] = []
  const server = createServer((request, response) => {
    seen.push(request.headers)
    request.resume().on('end', () => response.end('{}'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const otlpEndpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const traces = openTraces({ otlpEndpoint, otlpHeaders: 'authorization=Basic%20YTpi, x-team = search' })
  traces?.record({ name: 'chat m', startMs: 0, endMs: 1, attributes: {} })
  await traces?.close()
  server.close()
  expect(seen).toMatchObject([{ authorization: 'Basic YTpi', 'x-team': 'search', 'content-type': 'application/json' }])
})

it.each(['novalue', '=x', 'a b=c', 'a=%zz'])('refuses headers that are none: %s', (otlpHeaders) => {
  expect(() => openTraces({ otlpEndpoint: 'http://127.0.0.1:1', otlpHeaders })).toThrow('name=value pairs')
})
