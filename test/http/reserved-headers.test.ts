// Headers that a tool may not set itself while the service hands on the tokens of callers.
import { afterEach, expect, it } from 'vitest'
import { type Service, startService } from './service.ts'

const open: Service[] = []
afterEach(async () => {
  for (const service of open.splice(0)) await service.stop()
})

async function start(propagates: boolean) {
  const usecases = propagates ? { propagation: { childTtlMs: 1, toolTtlMs: 1 } } : {}
  const service = await startService({ usecases })
  open.push(service)
  const send = async (line: string, headers: object) => {
    const payload = { name: 'lookup', spec: { description: 'd', http: { url: 'https://tool.example/x', headers } } }
    const answer = await service.call(line, { payload })
    return { status: answer.statusCode, body: answer.json() }
  }
  return send
}

it.each(['Txn-Token', 'txn-token', 'TXN-TOKEN'])('refuses a tool that sets %s [TOOL-011]', async (name) => {
  const send = await start(true)
  const refused = await send('POST /api/v1/tools', { [name]: 'forged' })
  expect(refused.status).toBe(400)
  expect(JSON.stringify(refused.body)).toContain('is reserved for the token of the caller')
  expect((await send('POST /api/v1/tools', { 'x-team': 'red' })).status).toBe(201)
  expect((await send('PUT /api/v1/tools/lookup', { [name]: 'forged' })).status).toBe(400)
})

it('takes it where nothing is handed on', async () => {
  const send = await start(false)
  expect((await send('POST /api/v1/tools', { 'Txn-Token': 'my own' })).status).toBe(201)
})

it.each(['Host', 'content-length'])('refuses %s, which would not be sent, and says what to do', async (name) => {
  const send = await start(false)
  const refused = await send('POST /api/v1/tools', { [name]: '1' })
  expect(refused.status).toBe(400)
  expect(JSON.stringify(refused.body)).toContain('is set by the service itself; remove it')
})
