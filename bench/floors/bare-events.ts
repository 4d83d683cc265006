// The floor of a watch: bare node:http that sends each body it is given, as it is, to everybody who listens.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const listening = new Set<ServerResponse>()
const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': open\n\n')
    listening.add(response)
    response.on('close', () => listening.delete(response))
    return
  }
  let text = ''
  request.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  request.on('end', () => {
    for (const one of listening) one.write(text)
    response.writeHead(201).end()
  })
})
server.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
})
process.on('disconnect', () => process.exit(0))
