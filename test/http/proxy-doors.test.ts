// What holds at every door of the proxies: refusals that are true, and tokens that are counted for every provider.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Proxied, readError, simpleMessage, startProxied } from '../fixtures/proxy/proxied.ts'
import { answerJson, type Received } from '../fixtures/proxy/upstream.ts'

const messages = '/llma/v1/messages'
const counting = '/llma/v1/messages/count_tokens'
const completions = '/llmo/v1/chat/completions'
const responses = '/llmo/v1/responses'
const embeddings = '/llmo/v1/embeddings'
const tools = { enabled: { 'x-svc-tools': 'enabled' }, disabled: { 'x-svc-tools': 'disabled' } }

let proxied: Proxied
beforeAll(async () => {
  proxied = await startProxied({ builtinTools: ['file_read'] })
  await proxied.addProvider('a')
  await proxied.addProvider('o', { type: 'llmo', baseURL: `${proxied.upstream.url}/v1` })
  await proxied.addProvider('bare', { baseURL: `${proxied.upstream.url}/bare` })
  await proxied.create('/api/v1/providers', { name: 'demo', spec: { type: 'demo' } })
})
afterAll(() => proxied.stop())
afterEach(() => proxied.upstream.reset())

const hi = [{ role: 'user', content: 'hi' }]
/** By path and the provider's family: each passes bytes on, runs the loop, or translates. */
const doors = [messages, completions, responses, embeddings]
  .flatMap((path) =>
    ['a', 'o'].flatMap((provider) => (['enabled', 'disabled'] as const).map((on) => ({ path, provider, on }))),
  )
  .filter(({ path, provider, on }) => path !== embeddings || (provider === 'o' && on === 'disabled'))
type Door = (typeof doors)[number]

function ask({ path, provider, on }: Door, more: object = {}): Promise<Response> {
  const input = path === responses || path === embeddings ? { input: 'hi' } : { messages: hi, max_tokens: 9 }
  return proxied.ask(path, { model: `${provider}/m`, ...input, ...more }, { headers: tools[on] })
}

describe('a 404 of a vendor', () => {
  const absent: [string, (request: Received) => void][] = [
    ['a page', ({ response }) => void response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>nothing</h1>')],
    ['nothing', ({ response }) => void response.writeHead(404).end()],
    ['detail', answerJson({ detail: 'Not Found' }, 404)],
    ['an error of llmo', answerJson({ error: { message: 'Unknown request URL', code: 'unknown_url' } }, 404)],
    ['an error of llma', answerJson({ type: 'error', error: { type: 'not_found_error', message: 'Not found' } }, 404)],
    ['405', answerJson({ detail: 'Method Not Allowed' }, 405)],
  ]

  it.each(doors)('that is not about the model is 502 at $path for $provider, tools $on', async (door) => {
    for (const [what, answer] of absent) {
      proxied.upstream.script.answer = answer
      const answered = await ask(door)
      const { type, error } = await readError(answered)
      expect([answered.status, what]).toEqual([502, what])
      expect(error.message).toContain('check spec.baseURL')
      if (door.path.startsWith('/llma')) expect([type, error.type]).toEqual(['error', 'api_error'])
      else expect([type, error.type, error.code]).toEqual([undefined, 'server_error', null])
    }
  })

  it.each(doors)('about the model stays one at $path for $provider, tools $on', async (door) => {
    for (const message of ['model: m', 'The model `m` does not exist', 'No endpoints found for m.']) {
      proxied.upstream.script.answer = answerJson({ error: { type: 'not_found_error', message } }, 404)
      expect((await ask(door)).status).toBe(404)
    }
  })

  it('about something that the request names by an id stays one where bytes are passed', async () => {
    const error = { message: "Item with id 'rs_0123abcd' not found.", type: 'invalid_request_error' }
    proxied.upstream.script.answer = answerJson({ error }, 404)
    const answered = await proxied.ask(completions, { model: 'o/m', messages: hi })
    expect([answered.status, await answered.json()]).toEqual([404, { error }])
  })
})

describe('a refusal', () => {
  /** What one family or the service alone cannot do, or nobody can. */
  const odd: Record<string, object[]> = {
    [messages]: [
      { top_k: 7 },
      { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'https://a/b' } }] }] },
      { messages: [] },
      { max_tokens: 0 },
      { container: 'c' },
    ],
    [completions]: [
      { n: 2 },
      { seed: 7 },
      { tools: [{ type: 'custom', custom: { name: 'c' } }] },
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a/b' } }] }] },
      { messages: [] },
      { response_format: { type: 'json_object' } },
    ],
    [responses]: [
      { previous_response_id: 'resp_1' },
      { conversation: 'conv_1' },
      { prompt: { id: 'pmpt_1' } },
      { background: true },
      { top_logprobs: 3 },
      { max_tool_calls: 3 },
      { tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] },
      { tools: [{ type: 'of_tomorrow' }] },
      { tool_choice: { type: 'file_search' } },
      { input: [{ type: 'item_reference', id: 'rs_1' }] },
      { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file_1' }] }] },
      { input: [{ role: 'user', content: [{ type: 'of_tomorrow' }] }] },
      { input: [{ type: 'of_tomorrow' }] },
      { input: [] },
    ],
  }
  const wishes = doors.flatMap((door) => (odd[door.path] ?? []).map((more) => ({ ...door, more })))

  it.each(wishes)(
    'gives advice that can be followed at $path for $provider, tools $on: $more',
    async ({ more, ...door }) => {
      const refused = await ask(door, more)
      if (refused.status === 200) return
      const { message } = (await readError(refused)).error
      if (!/x-svc-tools/i.test(message)) return
      expect(door.on, message).toBe('enabled')
      const followed = await ask({ ...door, on: 'disabled' }, more)
      expect(followed.status, message).toBe(200)
    },
  )

  it('names the header where it helps', async () => {
    const door = { path: completions, provider: 'o', on: 'enabled' } as const
    expect((await readError(await ask(door, { n: 2 }))).error.message).toContain('X-Svc-Tools: disabled')
    const translated = await readError(await ask({ ...door, provider: 'a' }, { n: 2 }))
    expect(translated.error.message).toContain('ask for one, or use a provider of type llmo')
  })
})

describe('counted tokens', () => {
  const body = { messages: [{ role: 'user', content: 'word '.repeat(400) }], tools: [], system: 'be brief' }
  const count = (model: string, more: object = {}) => proxied.ask(counting, { model, ...body, ...more })
  const calls = () => proxied.upstream.received.filter(({ method }) => method === 'POST').length

  async function expectEstimate(answer: Response): Promise<void> {
    expect([answer.status, answer.headers.get('x-svc-estimated')]).toEqual([200, 'input_tokens'])
    const { input_tokens: tokens } = (await answer.json()) as { input_tokens: number }
    expect(tokens).toBeGreaterThan(400)
    expect(tokens).toBeLessThan(700)
  }

  it('are those of the vendor where it counts', async () => {
    proxied.upstream.script.answer = answerJson({ input_tokens: 411 })
    const answer = await count('a/m')
    expect([answer.headers.get('x-svc-estimated'), await answer.json()]).toEqual([null, { input_tokens: 411 }])
  })

  it.each(['o/m', 'demo/demo'])('are an estimate, marked, for %s, and nothing is asked', async (model) => {
    await expectEstimate(await count(model))
    expect(calls()).toBe(0)
  })

  it.each([404, 405, 501])('are an estimate where the vendor answers %i, which is remembered', async (status) => {
    const name = `bare-${status}`
    await proxied.addProvider(name, { baseURL: `${proxied.upstream.url}/${name}` })
    for (const answer of [
      answerJson({ detail: 'no' }, status),
      ({ response }: Received) => void response.writeHead(status).end(),
    ]) {
      proxied.upstream.script.answer = answer
      await expectEstimate(await count(`${name}/m`))
    }
    expect(calls()).toBe(1)
  })

  it('of a model that the vendor does not know, or with a key that it refuses, are an error', async () => {
    proxied.upstream.script.answer = answerJson({ error: { type: 'not_found_error', message: 'model: m' } }, 404)
    expect((await count('bare/m')).status).toBe(404)
    proxied.upstream.script.answer = answerJson({ error: { type: 'authentication_error', message: 'no' } }, 401)
    expect((await count('bare/m')).status).toBe(502)
  })

  it.each([[{ messages: [] }], [{ messages: undefined }], [{ messages: 'hi' }], [{ messages: [7] }]])(
    'of %j are refused, not estimated',
    async (more) => {
      const answer = await count('o/m', more)
      expect([answer.status, (await readError(answer)).error.message]).toEqual([
        400,
        expect.stringMatching(/^messages: /),
      ])
    },
  )
})

describe('the first frame of a translated message', () => {
  type Frame = { type: string; message?: { usage: object }; usage?: object }
  const chunk = (delta: object, more: object = {}) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta, ...more }] })}\n\n`
  const usage = (counts: object) => `data: ${JSON.stringify({ id: 'c', choices: [], usage: counts })}\n\n`

  async function stream(chunks: string[]): Promise<Frame[]> {
    proxied.upstream.script.answer = ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end([...chunks, 'data: [DONE]\n\n'].join(''))
    }
    const answer = await proxied.ask(messages, simpleMessage('o/m', { stream: true }))
    const lines = (await answer.text()).split('\n').filter((line) => line.startsWith('data: '))
    return lines.map((line) => JSON.parse(line.slice('data: '.length)))
  }
  const says = [chunk({ role: 'assistant', content: 'fine' }), chunk({}, { finish_reason: 'stop' })]
  const first = (frames: Frame[]) => frames.find(({ type }) => type === 'message_start')?.message?.usage
  const last = (frames: Frame[]) => frames.find(({ type }) => type === 'message_delta')?.usage

  it('estimates the input, which the last one counts', async () => {
    const counted = await count()
    const frames = await stream([...says, usage({ prompt_tokens: 812, completion_tokens: 2 })])
    expect(first(frames)).toEqual({ input_tokens: counted, output_tokens: 0 })
    expect(last(frames)).toEqual({ input_tokens: 812, output_tokens: 2 })
  })

  it('estimates it in the last one as well when nobody counted', async () => {
    const counted = await count()
    for (const chunks of [says, [...says, usage({ prompt_tokens: 0, completion_tokens: 0 })]]) {
      expect(last(await stream(chunks))).toMatchObject({ input_tokens: counted })
    }
  })

  /** The same number that counting answers. */
  async function count(): Promise<number> {
    const answer = await proxied.ask(counting, simpleMessage('o/m', { stream: true }))
    return ((await answer.json()) as { input_tokens: number }).input_tokens
  }
})
