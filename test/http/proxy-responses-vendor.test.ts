// A vendor some of whose models call functions by its responses API alone, as it says itself: every door calls them there.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Proxied, startProxied } from '../fixtures/proxy/proxied.ts'
import { answerJson, type Received } from '../fixtures/proxy/upstream.ts'

type Json = Record<string, unknown>

let proxied: Proxied
beforeAll(async () => {
  proxied = await startProxied({ builtinTools: ['file_write', 'file_read'] })
})
afterAll(() => proxied.stop())
beforeEach(() => {
  proxied.upstream.reset()
})

const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'sealed by the vendor' }
const write = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'file_write',
  arguments: '{"path":"a","content":"tulip"}',
}
const said = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'It is written.' }],
}
const usage = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 3 },
  total_tokens: 15,
}

function writeFrames(output: Json[]): string {
  const frame = (type: string, json: Json) => `event: ${type}\ndata: ${JSON.stringify({ type, ...json })}\n\n`
  const response = { id: 'resp_v', object: 'response', model: 'm-2030', status: 'in_progress', output: [] }
  const items = output.map((item, output_index) => {
    const where = { output_index, item_id: item.id }
    const pieces = String(item.arguments ?? 'It is written.').match(/\S+ ?/g) ?? []
    const type = item.type === 'message' ? 'response.output_text.delta' : 'response.function_call_arguments.delta'
    const deltas = item.type === 'reasoning' ? [] : pieces.map((delta) => frame(type, { ...where, delta }))
    const added = frame('response.output_item.added', { output_index, item: { ...item, arguments: '', content: [] } })
    return `${added}${deltas.join('')}${frame('response.output_item.done', { output_index, item })}`
  })
  const end = { ...response, status: 'completed', output, usage }
  return `${frame('response.created', { response })}${items.join('')}${frame('response.completed', { response: end })}`
}

const words =
  "Function tools with reasoning_effort are not supported for m in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'."

function answerStream({ response }: Received, output: Json[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(writeFrames(output))
}

function answer(request: Received): void {
  const body = JSON.parse(request.body.toString()) as Json
  const error = { message: words, type: 'invalid_request_error', param: 'reasoning_effort', code: null }
  const output = JSON.stringify(body.input ?? '').includes('function_call_output') ? [said] : [reasoning, write]
  if (!request.path.endsWith('/responses')) answerJson({ error }, 400)(request)
  else if (body.stream === true) answerStream(request, output)
  else answerJson({ id: 'resp_v', model: 'm-2030', status: 'completed', output, usage })(request)
}

const doors = {
  'llma/v1/messages': { max_tokens: 64, messages: [{ role: 'user', content: 'write' }] },
  'llmo/v1/chat/completions': { messages: [{ role: 'user', content: 'write' }] },
  'llmo/v1/responses': { input: 'write' },
}
const ways = Object.keys(doors).flatMap((door) =>
  [true, false].map((stream) => [door as keyof typeof doors, stream] as const),
)

describe('a model that calls functions by the responses API alone', () => {
  it.each(ways)('runs the tools of the service for %s, streamed: %s', async (door, stream) => {
    const name = `v${ways.findIndex(([one, how]) => one === door && how === stream)}`
    await proxied.addProvider(name, { type: 'llmo', baseURL: `${proxied.upstream.url}/${name}/v1` })
    proxied.upstream.script.answer = answer
    const body = { model: `${name}/m`, ...doors[door], stream }
    const answered = await proxied.ask(`/${door}`, body, { headers: { 'x-svc-tools': 'enabled' } })
    const text = await answered.text()
    expect([answered.status, text]).toEqual([200, expect.stringContaining('written.')])
    const asked = proxied.upstream.received.map(
      ({ path, body: sent }) => [path, JSON.parse(sent.toString()) as Json] as const,
    )
    expect(asked.map(([path]) => path.split('/').at(-1))).toEqual(['completions', 'responses', 'responses'])
    const second = asked[2]?.[1] ?? {}
    expect(second).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] })
    const types = (second.input as Json[]).map(({ type, role }) => type ?? role)
    expect(types.slice(-4)).toEqual(['user', 'reasoning', 'function_call', 'function_call_output'])
    expect((second.input as Json[]).at(-3)).toEqual(reasoning)
    expect(second.tools).toMatchObject([{ type: 'function', name: 'file_read', strict: false }, { name: 'file_write' }])
  })

  it('is asked without reasoning where the vendor has no such API', async () => {
    await proxied.addProvider('poor', { type: 'llmo', baseURL: `${proxied.upstream.url}/poor/v1` })
    proxied.upstream.script.answer = (request) => {
      const body = JSON.parse(request.body.toString()) as Json
      if (request.path.endsWith('/responses')) return answerJson({ detail: 'Not Found' }, 404)(request)
      if (body.reasoning_effort !== 'none') return answer(request)
      const message = { role: 'assistant', content: 'done' }
      answerJson({ model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] })(request)
    }
    const body = { model: 'poor/m', reasoning_effort: 'high', messages: [{ role: 'user', content: 'write' }] }
    const answered = await proxied.ask('/llmo/v1/chat/completions', body, { headers: { 'x-svc-tools': 'enabled' } })
    expect([answered.status, await answered.text()]).toEqual([200, expect.stringContaining('done')])
  })
})
