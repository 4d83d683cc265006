// What Codex, the Vercel AI SDK and the vendor's own client send to the responses API and want back, over providers of both families.
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Proxied, startProxied } from '../fixtures/proxy/proxied.ts'
import { type Say, type StrictVendor, startStrictVendor } from '../fixtures/proxy/strict-vendor.ts'
import { answerJson } from '../fixtures/proxy/upstream.ts'
import { ownerToken } from './service.ts'

type Json = Record<string, unknown>

let proxied: Proxied
let vendor: StrictVendor
let script: (asked: Json, count: number) => Say
let client: OpenAI

const openClient = (apiKey: string, headers: Record<string, string> = {}) =>
  new OpenAI({ apiKey, baseURL: `${proxied.url}/llmo/v1`, maxRetries: 0, defaultHeaders: headers })

beforeAll(async () => {
  vendor = await startStrictVendor((body, count) => script(body, count))
  proxied = await startProxied({ builtinTools: ['file_read'] })
  await proxied.addProvider('a', { baseURL: vendor.url })
  await proxied.addProvider('o', { type: 'llmo', baseURL: `${vendor.url}/v1` })
  client = openClient(ownerToken)
})
afterAll(async () => {
  await proxied.stop()
  await vendor.stop()
})
beforeEach(() => {
  vendor.asked.length = 0
  script = () => ({ text: 'done' })
})

const add = {
  type: 'function',
  name: 'add_numbers',
  parameters: { type: 'object', properties: { a: {} } },
  strict: false,
}
const patch = {
  type: 'custom',
  name: 'apply_patch',
  description: 'Edits files.',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: "*** Begin Patch"' },
}
/** As Codex declares them. */
const codexTools = [
  { type: 'function', name: 'exec_command', parameters: { type: 'object', properties: {} }, strict: false },
  { type: 'namespace', name: 'mcp__demo', description: 'Sums.', tools: [add] },
  { type: 'namespace', name: 'multi_agent_v1', description: '', tools: [{ ...add, name: 'spawn_agent' }] },
  patch,
  { type: 'local_shell' },
  {
    type: 'tool_search',
    execution: 'client',
    description: 'Finds tools.',
    parameters: { type: 'object', properties: {} },
  },
  { type: 'web_search', external_web_access: false },
  { type: 'image_generation', output_format: 'png' },
  { type: 'of_tomorrow', anything: [1] },
]

async function ask(body: Json, headers: Record<string, string> = {}): Promise<Response> {
  return proxied.ask(
    '/llmo/v1/responses',
    { stream: false, ...body },
    { headers: { 'x-svc-tools': 'enabled', ...headers } },
  )
}

async function askWhole(body: Json): Promise<Json & { output: Json[]; id: string }> {
  const answer = await ask(body)
  if (answer.status !== 200) throw new Error(await answer.text())
  return (await answer.json()) as Json & { output: Json[]; id: string }
}

function namesOf({ tools }: Json): unknown[] {
  return (tools as Json[]).map((tool) => (tool.function as Json | undefined)?.name ?? tool.name)
}

const bodyOf = (at: number) => vendor.asked[at]?.body as Json & { messages: Json[] }

describe.each(['a/m', 'o/m'])('tools of a client, over %s', (model) => {
  it('are its own functions, of whatever type; what it cannot know about is left out and named', async () => {
    const answer = await ask({ model, input: 'hi', tools: codexTools })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-svc-left-out')).toBe(
      'tools.6 (web_search), tools.7 (image_generation), tools.8 (of_tomorrow)',
    )
    expect(namesOf(bodyOf(0))).toEqual([
      'exec_command',
      'mcp__demo__add_numbers',
      'multi_agent_v1__spawn_agent',
      'apply_patch',
      'local_shell',
      'tool_search',
      'file_read',
    ])
    expect(JSON.stringify(bodyOf(0).tools)).toContain('start: \\"*** Begin Patch\\"')
    expect(((await answer.json()) as Json).tools).toEqual(codexTools)
  })

  it('are given back as they were declared, and known again with their results', async () => {
    script = () => ({
      calls: [
        { id: 'call_1', name: 'mcp__demo__add_numbers', args: { a: 1 } },
        { id: 'call_2', name: 'apply_patch', args: { input: '*** Begin Patch\n"x"' } },
        { id: 'call_3', name: 'local_shell', args: { command: ['ls', '-l'], timeout_ms: 5 } },
        { id: 'call_4', name: 'tool_search', args: { query: 'mail' } },
      ],
    })
    const { output } = await askWhole({ model, input: 'hi', tools: codexTools })
    expect(output).toMatchObject([
      { type: 'function_call', call_id: 'call_1', name: 'add_numbers', namespace: 'mcp__demo', arguments: '{"a":1}' },
      { type: 'custom_tool_call', call_id: 'call_2', name: 'apply_patch', input: '*** Begin Patch\n"x"' },
      { type: 'local_shell_call', call_id: 'call_3', action: { type: 'exec', command: ['ls', '-l'], timeout_ms: 5 } },
      { type: 'tool_search_call', call_id: 'call_4', execution: 'client', arguments: { query: 'mail' } },
    ])
    script = () => ({ text: 'done' })
    const found = [{ type: 'namespace', name: 'mail', tools: [{ ...add, name: 'send' }] }]
    const results = [
      { type: 'function_call_output', call_id: 'call_1', output: '3' },
      { type: 'custom_tool_call_output', call_id: 'call_2', output: [{ type: 'input_text', text: 'patched' }] },
      { type: 'local_shell_call_output', id: 'call_3', output: '{"stdout":"a.txt"}' },
      { type: 'tool_search_output', call_id: 'call_4', execution: 'client', status: 'completed', tools: found },
      { type: 'compaction', encrypted_content: 'of the vendor' },
    ]
    const input = [{ type: 'message', role: 'developer', content: 'hi' }, ...output, ...results]
    const answer = await ask({ model, input, tools: codexTools })
    expect([answer.status, answer.headers.get('x-svc-left-out')]).toEqual([
      200,
      expect.stringContaining('(compaction)'),
    ])
    const sent = JSON.stringify(bodyOf(1))
    for (const text of ['patched', 'a.txt', 'mail__send', 'Begin Patch']) expect(sent).toContain(text)
    expect(namesOf(bodyOf(1))).toContain('mail__send')
  })

  it('have names that the vendor takes, each its own', async () => {
    const long = 'x'.repeat(80)
    const tools = [
      { ...add, name: 'a__b' },
      {
        type: 'namespace',
        name: 'a',
        description: '',
        tools: [
          { ...add, name: 'b' },
          { ...add, name: long },
        ],
      },
      { type: 'namespace', name: `${long}a`, description: '', tools: [{ ...add, name: 'b' }] },
      { type: 'namespace', name: `${long}b`, description: '', tools: [{ ...add, name: 'b' }] },
      { ...add, name: 'with.dot' },
    ]
    await askWhole({ model, input: 'hi', tools })
    const names = namesOf(bodyOf(0)).slice(0, 6) as string[]
    expect(new Set(names).size).toBe(6)
    for (const name of names) expect(name).toMatch(/^[\w-]{1,64}$/)
    script = () => ({ calls: names.map((name, at) => ({ id: `call_${at}`, name, args: {} })) })
    const { output } = await askWhole({ model, input: 'hi', tools })
    expect(output.map(({ namespace, name }) => [namespace, name])).toEqual([
      [undefined, 'a__b'],
      ['a', 'b'],
      ['a', long],
      [`${long}a`, 'b'],
      [`${long}b`, 'b'],
      [undefined, 'with.dot'],
    ])
  })

  it('stream free text as it is written', async () => {
    const text = '*** Begin Patch\n+ "quoted" \\ 😀\n*** End Patch'
    script = () => ({ calls: [{ id: 'call_1', name: 'apply_patch', args: { input: text } }] })
    const body = { model, input: 'hi', tools: [patch] } as unknown as OpenAI.Responses.ResponseCreateParamsStreaming
    const stream = client.responses.stream(body as never)
    const pieces: string[] = []
    for await (const event of stream) {
      if (event.type === 'response.custom_tool_call_input.delta') pieces.push(event.delta)
    }
    expect(pieces.length).toBeGreaterThan(3)
    expect(pieces.join('')).toBe(text)
    expect((await stream.finalResponse()).output).toMatchObject([
      { type: 'custom_tool_call', status: 'completed', input: text },
    ])
  })

  it('are chosen by the names that the client knows', async () => {
    const chosen = async (tool_choice: unknown) => {
      vendor.asked.length = 0
      const answer = await ask({ model, input: 'hi', tools: codexTools, tool_choice })
      return [JSON.stringify(bodyOf(0).tool_choice ?? null), answer.headers.get('x-svc-left-out')]
    }
    expect((await chosen({ type: 'custom', name: 'apply_patch' }))[0]).toContain('apply_patch')
    expect((await chosen({ type: 'function', name: 'add_numbers', namespace: 'mcp__demo' }))[0]).toContain(
      'mcp__demo__add_numbers',
    )
    expect((await chosen({ type: 'web_search' }))[1]).toContain('tool_choice (web_search)')
    await chosen({ type: 'allowed_tools', mode: 'auto', tools: [{ type: 'custom', name: 'apply_patch' }] })
    expect(namesOf(bodyOf(0))).toEqual(['apply_patch', 'file_read'])
  })

  it('may return images, which the next message of the user shows', async () => {
    if (model === 'a/m') return
    const input = [
      { type: 'function_call', call_id: 'c1', name: 'view', arguments: '{}' },
      { type: 'function_call', call_id: 'c2', name: 'view', arguments: '{}' },
      {
        type: 'function_call_output',
        call_id: 'c1',
        output: [{ type: 'input_image', image_url: 'data:image/png;base64,AA' }],
      },
      { type: 'function_call_output', call_id: 'c2', output: 'text' },
    ]
    await askWhole({ model, input })
    expect(bodyOf(0).messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'tool', 'user'])
    expect(JSON.stringify(bodyOf(0).messages.at(-1))).toContain('data:image/png;base64,AA')
  })

  it('says what of a request is left out, whatever it is', async () => {
    const input = [
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'hi' },
          { type: 'hologram', data: 1 },
        ],
      },
      { type: 'computer_call', id: 'cu_1', call_id: 'c', action: {} },
      { type: 'thing\r\nof tomorrow', content: { odd: true } },
      { type: 'message', role: 'critic', content: 'no' },
    ]
    const answer = await ask({ model, input, background: true, max_tool_calls: 3, unheard_of: { a: 1 } })
    expect([answer.status, answer.headers.get('x-svc-left-out')]).toEqual([
      200,
      'input.0.content.1 (hologram), input.1 (computer_call), input.2 (thing__of_tomorrow), input.3 (role_critic), background, max_tool_calls, unheard_of',
    ])
    expect(((await answer.json()) as Json).status).toBe('completed')
  })
})

describe.each(['a/m', 'o/m'])('a conversation goes on over %s', (model) => {
  const messagesOf = (at: number) => JSON.stringify([bodyOf(at).system, bodyOf(at).messages])

  it('from the id of a response, and of one after it', async () => {
    script = (_body, count) => ({ text: `answer ${count}` })
    const first = await client.responses.create({ model, input: 'question 1' })
    const second = await client.responses.create({ model, input: 'question 2', previous_response_id: first.id })
    expect(second.previous_response_id).toBe(first.id)
    const stream = client.responses.stream({ model, input: 'question 3', previous_response_id: second.id })
    const third = await stream.finalResponse()
    await client.responses.create({ model, input: 'question 4', previous_response_id: third.id })
    const words = messagesOf(3).match(/(question|answer) \d/g)
    expect(words).toEqual(['question 1', 'answer 1', 'question 2', 'answer 2', 'question 3', 'answer 3', 'question 4'])
  })

  it('from items that it names', async () => {
    script = () => ({ text: 'said before' })
    const first = await client.responses.create({ model, input: 'hi' })
    const reference = { type: 'item_reference' as const, id: first.output[0]?.id ?? '' }
    const input = [{ role: 'user' as const, content: 'hi' }, reference, { role: 'user' as const, content: 'again' }]
    const second = await client.responses.create({ model, input })
    expect(messagesOf(1)).toContain('said before')
    await client.responses.create({ model, input: 'more', previous_response_id: second.id })
    expect(messagesOf(2).match(/said before/g)).toHaveLength(2)
  })

  it('from what can be read and deleted by its own caller alone', async () => {
    script = () => ({ text: 'said before' })
    const first = await client.responses.create({ model, input: 'hi' })
    expect(await client.responses.retrieve(first.id)).toMatchObject({ id: first.id, output: first.output })
    const created = await proxied.service.call('POST /api/v1/tokens', {
      payload: { name: `reader-${model[0]}`, role: 'owner' },
    })
    const stranger = openClient((JSON.parse(created.body) as { token: string }).token)
    const missing = { status: 404, type: 'invalid_request_error', param: 'response_id', code: null }
    await expect(stranger.responses.retrieve(first.id)).rejects.toMatchObject(missing)
    await expect(stranger.responses.delete(first.id)).rejects.toMatchObject(missing)
    const path = `/llmo/v1/responses/${first.id}`
    const headers = { authorization: `Bearer ${ownerToken}` }
    const deleted = await fetch(proxied.url + path, { method: 'DELETE', headers })
    expect([deleted.status, await deleted.json()]).toEqual([200, { id: first.id, object: 'response', deleted: true }])
    await expect(client.responses.retrieve(first.id)).rejects.toMatchObject(missing)
    const refused = await fetch(proxied.url + path, { method: 'POST', headers })
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD, DELETE'])
  })

  it('of its own caller and namespace alone, and in the words of the vendor where there is none', async () => {
    const first = await client.responses.create({ model, input: 'hi' })
    const unkept = await client.responses.create({ model, input: 'hi', store: false })
    expect(unkept).toMatchObject({ store: false })
    const created = await proxied.service.call('POST /api/v1/tokens', {
      payload: { name: `other-${model[0]}`, role: 'owner' },
    })
    const stranger = openClient((JSON.parse(created.body) as { token: string }).token)
    const attempts = [
      [stranger, first.id],
      [client, unkept.id],
      [client, 'resp_unknown'],
    ] as const
    for (const [asker, id] of attempts) {
      const failure = await asker.responses
        .create({ model, input: 'x', previous_response_id: id })
        .catch((e: unknown) => e)
      expect(failure).toBeInstanceOf(OpenAI.NotFoundError)
      expect(failure).toMatchObject({ code: 'previous_response_not_found', param: 'previous_response_id' })
      expect(String(failure)).toContain(`Previous response with id '${id}' not found.`)
    }
    const item = { type: 'item_reference' as const, id: unkept.output[0]?.id ?? '' }
    const failure = await client.responses.create({ model, input: [item] }).catch((e: unknown) => e)
    expect(failure).toBeInstanceOf(OpenAI.NotFoundError)
    expect(failure).toMatchObject({ type: 'invalid_request_error', param: 'input', code: null })
    expect(String(failure)).toContain(`Item with id '${item.id}' not found. Items are not persisted when \`store\` is`)
  })
})

describe.each([
  ['a/m', true],
  ['a/m', false],
  ['o/m', true],
  ['o/m', false],
])('what a model of %s thought, streamed: %s', (model, streamed) => {
  const ask = async (input: unknown, to = model): Promise<Json[]> => {
    const body = { model: to, input, store: false, stream: streamed, tools: [add] }
    const asked = body as unknown as OpenAI.Responses.ResponseCreateParamsNonStreaming
    const answer = streamed
      ? await client.responses.stream(asked as never).finalResponse()
      : await client.responses.create(asked)
    return answer.output as unknown as Json[]
  }
  const question = { role: 'user', content: 'add' }
  const result = { type: 'function_call_output', call_id: 'call_1', output: '3' }
  const think: Say = { thinking: 'I had better add.', calls: [{ id: 'call_1', name: 'add_numbers', args: { a: 1 } }] }

  it('goes back with its turn, to the vendor that made it alone', async () => {
    script = () => think
    const output = await ask([question])
    expect(output).toMatchObject([
      { type: 'reasoning', encrypted_content: expect.any(String) },
      { type: 'function_call' },
    ])
    script = () => ({ text: 'done' })
    // Codex sends items of reasoning without their ids.
    const items = output.map(({ id: _id, ...item }) => item)
    await ask([question, ...items, result])
    const sent =
      model === 'a/m' ? '"thinking":"I had better add.","signature":"sig:' : '"reasoning_content":"I had better add."'
    expect(JSON.stringify(bodyOf(1).messages)).toContain(sent)
    await ask([question, ...items, result], model === 'a/m' ? 'o/m' : 'a/m')
    expect(JSON.stringify(bodyOf(2))).not.toContain('I had better add.')
  })
})

describe('a provider without the responses API', () => {
  const off = { 'x-svc-tools': 'disabled' }
  const pathsOf = () => vendor.asked.map(({ path }) => path)

  it('is asked in the words of chat completions, with the tools of the service off as well, and remembered', async () => {
    const passing = openClient(ownerToken, off)
    await proxied.addProvider('old', { type: 'llmo', baseURL: `${vendor.url}/v1/` })
    const first = await passing.responses.create({ model: 'old/m', input: 'hi' })
    expect(first.output_text).toBe('done')
    expect(pathsOf()).toEqual(['/v1/responses', '/v1/chat/completions'])
    const second = await passing.responses
      .stream({ model: 'old/m', input: 'more', previous_response_id: first.id })
      .finalResponse()
    expect(second.output_text).toBe('done')
    expect(pathsOf().slice(2)).toEqual(['/v1/chat/completions'])
  })

  it('that refuses chat completions as well is told as what it says', async () => {
    await proxied.addProvider('none', { type: 'llmo', baseURL: `${vendor.url}/elsewhere/v1` })
    script = () => ({ status: 400, error: 'bad words' })
    const answer = await proxied.ask('/llmo/v1/responses', { model: 'none/m', input: 'hi' })
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('bad words')])
    vendor.asked.length = 0
    await proxied.ask('/llmo/v1/responses', { model: 'none/m', input: 'hi' })
    expect(pathsOf()[0]).toBe('/elsewhere/v1/responses')
  })

  it('is not meant where the vendor says that an item is not there', async () => {
    await proxied.addProvider('full', { type: 'llmo', baseURL: proxied.upstream.url })
    const words = {
      error: { message: "Item with id 'rs_1' not found.", type: 'invalid_request_error', param: 'input' },
    }
    proxied.upstream.script.answer = answerJson(words, 404)
    const answer = await proxied.ask('/llmo/v1/responses', {
      model: 'full/m',
      input: [{ type: 'item_reference', id: 'rs_1' }],
    })
    expect([answer.status, await answer.json()]).toEqual([404, words])
  })
})
