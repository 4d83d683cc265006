import { describe, expect, it } from 'vitest'
import type { AskApproval } from '../../../contract/api/coordination/coordination.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { createRedactor } from '../../../observability/redaction.ts'
import { approveTools } from './approved-host.ts'

const { signal } = new AbortController()
const secrets = ['first-secret-value', 'other-secret-value']

async function askAll(calls: readonly { id: string; args: JsonObject }[]) {
  const asked: { call: string; args: AskApproval }[] = []
  const host = approveTools(
    { list: () => [], call: async () => ({ content: 'ran', isError: false }) },
    {
      tools: ['web_fetch'],
      iteration: 0,
      redact: createRedactor(secrets),
      coordination: {
        async askApproval(call, args) {
          asked.push({ call, args })
          return { status: 'approved' }
        },
      },
    },
  )
  for (const { id, args } of calls) await host.call({ id, name: 'web_fetch', turn: 1, args }, signal)
  return asked
}

const countNames = (asked: readonly { call: string }[]) => new Set(asked.map(({ call }) => call)).size

describe('a question about a call', () => {
  it('is another one for other arguments, also where people are shown the same', async () => {
    const asked = await askAll(secrets.map((key) => ({ id: 'a', args: { url: `https://x.test/${key}` } })))
    expect(asked[0]?.args.arguments).toEqual(asked[1]?.args.arguments)
    expect(JSON.stringify(asked)).not.toContain('secret-value')
    expect(countNames(asked)).toBe(2)
  })

  it('is the same one when the call is made again, and has a name that fits however long its id is', async () => {
    const call = { id: 'a'.repeat(300), args: { url: 'https://x.test' } }
    const asked = await askAll([call, call, { ...call, id: `${call.id}b` }])
    expect(asked[0]).toEqual(asked[1])
    expect(asked.every(({ call: name }) => name.length <= 256)).toBe(true)
  })

  it.each([
    { headers: { authorization: 'Bearer abcdefghijklmnopqrstuvwxyz' }, url: 'https://x.test' },
    { password: 'hunter2hunter2', last: 1 },
    { body: '{"password":"hunter2hunter2","n":1}' },
    { command: 'export API_KEY="hunter2hunter2"; ls' },
    { password: 12345678, tokens: ['hunter2hunter2'] },
    { url: 'https://user:hunter2hunter2@x.test/?token=hunter2hunter2' },
    { text: '-----BEGIN PRIVATE KEY-----\nhunter2hunter2' },
  ])('can be asked whatever looks like a credential in it: %#', async (args) => {
    const [asked] = await askAll([{ id: 'a', args: args as JsonObject }])
    expect(asked?.args.message).toContain('web_fetch')
    expect(Object.keys(asked?.args.arguments ?? {})).toEqual(Object.keys(args))
  })
})
