// Clients that nobody here wrote, unmodified, against the real service with a double of each vendor behind it.
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type Anthropic from '@anthropic-ai/sdk'
import { LLMock } from '@copilotkit/aimock'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  ages,
  canImport,
  clientsFolder,
  hasProgram,
  isReported,
  programsOf,
  pythonOf,
  sdksOfAges,
} from '../../fixtures/clients.ts'
import { addVendors } from '../../fixtures/proxy/vendors.ts'
import { removeFolder, runProgram, type Service, startService } from '../../scenarios/service.ts'

const usage = { prompt_tokens: 21, completion_tokens: 9, input_tokens: 21, output_tokens: 9 }
const off = { 'X-Svc-Tools': 'disabled' }

let service: Service
let vendor: LLMock
beforeAll(async () => {
  service = await startService()
  vendor = new LLMock({ port: 0, chunkSize: 8 })
  await vendor.start()
  await addVendors(service, vendor.url, { llma: 'llma-vendor', llmo: 'llmo-vendor' })
})
afterAll(async () => {
  await vendor.stop()
  await service.stop()
  removeFolder(service.folder)
})
beforeEach(() => void vendor.clearFixtures())

const weather = { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] }

function scriptWeather(): void {
  const toolCalls = [{ name: 'get_weather', arguments: JSON.stringify({ city: 'Oslo' }) }]
  vendor.on({ userMessage: /weather/, sequenceIndex: 0 }, { toolCalls, usage })
  vendor.on({ userMessage: /weather/, sequenceIndex: 1 }, { content: 'It rains in Oslo.', usage })
}

describe.each(sdksOfAges)('the $age TypeScript SDK of llma [PROXY-022]', ({ Anthropic }) => {
  const open = () =>
    new Anthropic({ apiKey: service.token, baseURL: `${service.url}/llma`, defaultHeaders: off, maxRetries: 0 })
  const ask = (content: string) => ({
    model: 'llma-vendor/test-model',
    max_tokens: 256,
    messages: [{ role: 'user' as const, content }],
  })

  it('gets a message and its usage [LLMA-004]', async () => {
    vendor.on({ userMessage: /hello/ }, { content: 'Good day.', usage })
    const message = await open().messages.create(ask('hello'))
    expect(message.content).toMatchObject([{ type: 'text', text: 'Good day.' }])
    expect(message.usage).toMatchObject({ input_tokens: 21, output_tokens: 9 })
  })

  it('streams [LLMA-005]', async () => {
    vendor.on(
      { userMessage: /story/ },
      { content: 'Once upon a time there was a proxy that held nothing back.', usage },
    )
    const pieces: string[] = []
    const stream = open()
      .messages.stream(ask('a story'))
      .on('text', (text) => pieces.push(text))
    expect((await stream.finalMessage()).stop_reason).toBe('end_turn')
    expect(pieces.length).toBeGreaterThan(2)
    expect(pieces.join('')).toBe('Once upon a time there was a proxy that held nothing back.')
  })

  it('runs its own tools, streamed and not [LLMA-023]', async () => {
    for (const streamed of [false, true]) {
      vendor.clearFixtures()
      vendor.resetMatchCounts()
      scriptWeather()
      const client = open()
      const tools = [{ name: 'get_weather', description: 'The weather', input_schema: weather }]
      const run = (messages: Anthropic.MessageParam[]) => {
        const body = { ...ask(''), tools, messages }
        return streamed ? client.messages.stream(body).finalMessage() : client.messages.create(body)
      }
      const question: Anthropic.MessageParam = { role: 'user', content: 'what is the weather?' }
      const first = await run([question])
      expect(first.stop_reason).toBe('tool_use')
      const call = first.content.find((block) => block.type === 'tool_use')
      expect(call).toMatchObject({ name: 'get_weather', input: { city: 'Oslo' } })
      const result = { type: 'tool_result' as const, tool_use_id: call?.id ?? '', content: 'rain' }
      const last = await run([
        question,
        { role: 'assistant', content: first.content },
        { role: 'user', content: [result] },
      ])
      expect(last.content).toMatchObject([{ type: 'text', text: 'It rains in Oslo.' }])
    }
  })

  it('understands errors, of the service and of the vendor', async () => {
    vendor.on({ userMessage: /limit/ }, { error: { message: 'slow down', type: 'rate_limit_error' }, status: 429 })
    vendor.on({ userMessage: /bad/ }, { error: { message: 'bad request', type: 'invalid_request_error' }, status: 400 })
    const busy = open().messages.create({ ...ask('limit'), model: 'llma-vendor/busy-model' })
    await expect(busy).rejects.toBeInstanceOf(Anthropic.RateLimitError)
    await expect(open().messages.create(ask('bad'))).rejects.toBeInstanceOf(Anthropic.BadRequestError)
    const stranger = new Anthropic({ apiKey: 'nobody', baseURL: `${service.url}/llma`, maxRetries: 0 })
    await expect(stranger.messages.create(ask('hello'))).rejects.toBeInstanceOf(Anthropic.AuthenticationError)
    const unknown = open().messages.create({ ...ask('hello'), model: 'nobody/m' })
    await expect(unknown).rejects.toBeInstanceOf(Anthropic.NotFoundError)
  })

  it('aborts a stream', async () => {
    vendor.on({ userMessage: /long/ }, { content: 'word '.repeat(2000), usage }, { latency: 5 })
    const stream = open().messages.stream(ask('long'))
    stream.on('text', () => stream.abort())
    await expect(stream.finalMessage()).rejects.toBeInstanceOf(Anthropic.APIUserAbortError)
  })

  it('lists models [LLMA-041]', async () => {
    const page = await open().models.list()
    expect(page.has_more).toBe(false)
    const [first] = page.data
    // What the double offers, with the provider before it.
    expect(page.data.map(({ id }) => id)).toContainEqual(expect.stringMatching(/^llm[ao]-vendor\//))
    expect(await open().models.retrieve(first?.id ?? '')).toEqual(first)
  })
})

describe.each(sdksOfAges)('the $age TypeScript SDK of llmo [PROXY-022]', ({ OpenAI }) => {
  const open = () =>
    new OpenAI({ apiKey: service.token, baseURL: `${service.url}/llmo/v1`, defaultHeaders: off, maxRetries: 0 })
  const ask = (content: string) => ({ model: 'llmo-vendor/test-model', messages: [{ role: 'user' as const, content }] })

  it('gets a completion [LLMO-002]', async () => {
    vendor.on({ userMessage: /hello/ }, { content: 'Good day.', usage })
    const completion = await open().chat.completions.create(ask('hello'))
    expect(completion.choices[0]?.message.content).toBe('Good day.')
    expect(completion.usage).toMatchObject({ prompt_tokens: 21, completion_tokens: 9 })
  })

  it('streams [LLMO-003]', async () => {
    vendor.on({ userMessage: /story/ }, { content: 'Once upon a time there was a proxy.', usage })
    const stream = await open().chat.completions.create({ ...ask('a story'), stream: true })
    const pieces: string[] = []
    for await (const chunk of stream) pieces.push(chunk.choices[0]?.delta?.content ?? '')
    expect(pieces.join('')).toBe('Once upon a time there was a proxy.')
  })

  it('runs its own tools', async () => {
    vendor.resetMatchCounts()
    scriptWeather()
    const tools = [{ type: 'function' as const, function: { name: 'get_weather', parameters: weather } }]
    const first = await open().chat.completions.create({ ...ask('the weather?'), tools })
    const message = first.choices[0]?.message
    const [call] = message?.tool_calls ?? []
    if (message === undefined || call?.type !== 'function') throw new Error('no tool was called')
    expect(JSON.parse(call.function.arguments)).toEqual({ city: 'Oslo' })
    const messages = [
      ...ask('the weather?').messages,
      message,
      { role: 'tool' as const, tool_call_id: call.id, content: 'rain' },
    ]
    const last = await open().chat.completions.create({ ...ask(''), tools, messages })
    expect(last.choices[0]?.message.content).toBe('It rains in Oslo.')
  })

  it('makes embeddings and responses [LLMO-007] [LLMO-008]', async () => {
    const embedded = await open().embeddings.create({ model: 'llmo-vendor/embedder', input: 'a few words' })
    expect(embedded.data[0]?.embedding.length).toBeGreaterThan(0)
    vendor.on({ userMessage: /hello/ }, { content: 'Good day.', usage })
    const response = await open().responses.create({ model: 'llmo-vendor/test-model', input: 'hello' })
    expect(response.output_text).toBe('Good day.')
  })

  it('understands errors and aborts', async () => {
    vendor.on({ userMessage: /limit/ }, { error: { message: 'slow down', type: 'rate_limit_error' }, status: 429 })
    const busy = open().chat.completions.create({ ...ask('limit'), model: 'llmo-vendor/busy-model' })
    await expect(busy).rejects.toBeInstanceOf(OpenAI.RateLimitError)
    const stranger = new OpenAI({ apiKey: 'nobody', baseURL: `${service.url}/llmo/v1`, maxRetries: 0 })
    await expect(stranger.chat.completions.create(ask('hello'))).rejects.toBeInstanceOf(OpenAI.AuthenticationError)
    vendor.on({ userMessage: /long/ }, { content: 'word '.repeat(2000), usage }, { latency: 5 })
    const leaving = new AbortController()
    const stream = await open().chat.completions.create({ ...ask('long'), stream: true }, { signal: leaving.signal })
    let chunks = 0
    for await (const _chunk of stream) if (++chunks === 3) leaving.abort()
    expect(chunks).toBeLessThan(100)
  })
})

describe.each(sdksOfAges)('the $age Vercel AI SDK', ({ ai, createAnthropic, createOpenAI }) => {
  const { generateText, streamText, tool } = ai

  const models = () => ({
    llma: createAnthropic({ apiKey: service.token, baseURL: `${service.url}/llma/v1`, headers: off })(
      'llma-vendor/test-model',
    ),
    llmo: createOpenAI({ apiKey: service.token, baseURL: `${service.url}/llmo/v1`, headers: off }).chat(
      'llmo-vendor/test-model',
    ),
  })

  it.each(['llma', 'llmo'] as const)('streams, and runs tools over several steps, by %s', async (family) => {
    vendor.on({ userMessage: /story/ }, { content: 'Once upon a time there was a proxy.', usage })
    const story = streamText({ model: models()[family], prompt: 'a story' })
    // The oldest do not read it by themselves.
    await story.consumeStream()
    expect(await story.text).toBe('Once upon a time there was a proxy.')
    vendor.resetMatchCounts()
    scriptWeather()
    const asked: string[] = []
    const execute = ({ city }: { city: string }) => {
      asked.push(city)
      return 'rain'
    }
    const get_weather = tool({ description: 'The weather', inputSchema: z.object({ city: z.string() }), execute })
    const stopWhen = ({ steps }: { steps: unknown[] }) => steps.length === 3
    const { text } = await generateText({
      model: models()[family],
      prompt: 'the weather?',
      tools: { get_weather },
      stopWhen,
    })
    expect([asked, text]).toEqual([['Oslo'], 'It rains in Oslo.'])
  })
})

function scriptTalk(): void {
  vendor.resetMatchCounts()
  scriptWeather()
  vendor.on({ userMessage: /story/ }, { content: 'Once upon a time there was a proxy.', usage })
  vendor.on({ userMessage: /limit/ }, { error: { message: 'slow down', type: 'rate_limit_error' }, status: 429 })
  vendor.on({ userMessage: /long/ }, { content: 'word '.repeat(2000), usage }, { latency: 5 })
}

async function runPython(python: string, program: string, env: NodeJS.ProcessEnv = {}) {
  const { code, stdout, stderr } = await runProgram(python, [join(clientsFolder, program)], {
    env: { ...service.env, PROXY_URL: service.url, PROXY_TOKEN: service.token, ...env },
  })
  // Some clients print words of their own before.
  expect([code, stdout.trim().split('\n').at(-1), code === 0 ? '' : stderr]).toEqual([0, 'all is well', ''])
}

const families = ['llma', 'llmo']

describe.each(ages)('the %s Python SDKs (installed by scripts/install-clients.sh) [PROXY-022]', (age) => {
  const python = pythonOf(age, 'python')
  it.skipIf(!canImport(python, 'anthropic, openai')).each(families)(
    'stream, call tools, understand errors and abort: %s',
    async (family) => {
      scriptTalk()
      await runPython(python, `${family}.py`)
    },
  )
})

describe.each(ages)('the %s frameworks of others (installed by scripts/install-clients.sh)', (age) => {
  const python = pythonOf(age, 'python-frameworks')
  const all = ['langchain', 'litellm'].flatMap((client) => families.map((family) => [client, family]))
  it.skipIf(!canImport(python, 'litellm, langchain_openai, langchain_anthropic')).each(all)(
    '%s streams, and runs a tool whose result goes back, by %s',
    async (client, family) => {
      scriptTalk()
      await runPython(python, 'frameworks.py', { PROXY_CLIENT: client, PROXY_FAMILY: family })
    },
  )
})

const commandLine = join(programsOf('newest'), 'claude')
const howTools = [
  ['with the tools of the service beside its own', ''],
  ['with its own tools alone', 'X-Svc-Tools: disabled'],
] as const

describe.skipIf(!hasProgram('newest', 'claude') && !isReported)(
  'the Claude Code command line (scripts/install-clients.sh)',
  () => {
    it.each(howTools)('edits a file over several turns %s [PROXY-023]', async (_how, header) => {
      const folder = join(service.folder, `project${header.length}`)
      mkdirSync(folder, { recursive: true })
      const file = join(folder, 'greeting.txt')
      writeFileSync(file, 'Good morning, moon.\n')
      const edit = { file_path: file, old_string: 'moon', new_string: 'proxy' }
      const about = { userMessage: /replace the word moon/ }
      const read = [{ name: 'Read', arguments: JSON.stringify({ file_path: file }) }]
      vendor.resetMatchCounts()
      vendor.on({ ...about, hasToolResult: false }, { toolCalls: read, usage })
      vendor.on({ ...about, turnIndex: 1 }, { toolCalls: [{ name: 'Edit', arguments: JSON.stringify(edit) }], usage })
      vendor.on({ ...about, turnIndex: 2 }, { content: 'The word is replaced.', usage })
      vendor.on({ userMessage: /.*/ }, { content: 'ok', usage })
      const prompt = 'replace the word moon in greeting.txt by proxy'
      const { code, stdout, stderr } = await runCommandLine(folder, { prompt, header })
      expect([code, code === 0 ? '' : stderr + stdout]).toEqual([0, ''])
      expect(readFileSync(file, 'utf8')).toBe('Good morning, proxy.\n')
      const lines = stdout.trim().split('\n')
      const last = JSON.parse(lines.at(-1) ?? '')
      expect(last).toMatchObject({ type: 'result', is_error: false, result: 'The word is replaced.' })
    })
  },
)

function runCommandLine(
  folder: string,
  { prompt, header }: { prompt: string; header: string },
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const model = 'llma-vendor/test-model'
  const args = ['-p', prompt, '--output-format', 'stream-json', '--verbose', '--model', model]
  const child = spawn(commandLine, [...args, '--allowedTools', 'Read', 'Edit', '--permission-mode', 'acceptEdits'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...service.env,
      ANTHROPIC_BASE_URL: `${service.url}/llma`,
      ANTHROPIC_AUTH_TOKEN: service.token,
      ...(header === '' ? {} : { ANTHROPIC_CUSTOM_HEADERS: header }),
      ANTHROPIC_SMALL_FAST_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    },
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (part: Buffer) => {
    stdout += part.toString()
  })
  child.stderr.on('data', (part: Buffer) => {
    stderr += part.toString()
  })
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })))
}
