import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { BytePipe } from '../ports/service/egress.ts'
import { createPipes } from './pipe.ts'

const closing: (() => void)[] = []

afterEach(() => {
  for (const close of closing.splice(0)) close()
})

async function serve(): Promise<string> {
  const server = createServer((_request, response) => response.end('here'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function openPipes() {
  const pipes = createPipes(async () => [{ address: '127.0.0.1', family: 4 }])
  closing.push(() => void pipes.close())
  return pipes
}

const policy = { allowNetworks: ['127.0.0.0/8'], deny: [] }

function ask(pipe: BytePipe): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const parts: Buffer[] = []
  pipe.send(
    { method: 'POST', path: '/', headers: [], body: Buffer.from('x') },
    {
      head: () => {},
      data: (chunk) => parts.push(chunk) > 0,
      end: () => resolve(Buffer.concat(parts).toString()),
      fail: reject,
    },
  )
  return promise
}

describe('a pipe', () => {
  it('goes on when opening many others has closed its shared connections', async () => {
    const pipes = openPipes()
    const url = await serve()
    const pipe = await pipes.open(url, policy)
    expect(await ask(pipe)).toBe('here')
    for (let port = 20_000; port < 20_080; port++) await pipes.open(`http://127.0.0.1:${port}`, policy)
    expect(await ask(pipe)).toBe('here')
    expect(await ask(await pipes.open(url, policy))).toBe('here')
  })

  it('is refused each time for what the policy forbids, whatever was allowed before', async () => {
    const pipes = openPipes()
    const url = await serve()
    await pipes.open(url, policy)
    const narrow = { ...policy, allowedHosts: ['elsewhere.example'] }
    for (const _time of [1, 2]) await expect(pipes.open(url, narrow)).rejects.toMatchObject({ reason: 'Forbidden' })
    expect(await ask(await pipes.open(url, policy))).toBe('here')
  })
})
