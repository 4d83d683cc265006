import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import { expect, it } from 'vitest'
import { systemClock as clock, systemIds as ids } from '../lib/system-clock.ts'
import { collections } from './api/paths.ts'
import { createKubernetesApi } from './api.ts'

it('gives a request up when its signal aborts, though the handshake of its connection goes on', async () => {
  const sockets: Socket[] = []
  const server = createServer((socket) => void sockets.push(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const connection = {
    origin,
    pathPrefix: '',
    namespace: 'default',
    readCredentials: async () => ({ headers: {}, tls: {} }),
  }
  const api = createKubernetesApi({ connection, clock, ids })
  const late = new AbortController()
  server.once('connection', () => late.abort(new Error('it is too late')))
  const asked = api.request({ verb: 'get', collection: collections.leases, name: 'one', signal: late.signal, tries: 1 })
  await expect(asked).rejects.toThrow('it is too late')
  for (const socket of sockets) socket.destroy()
  server.close()
  await api.close()
})
