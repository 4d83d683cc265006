// Clients of the responses API that nobody here wrote, unmodified, with their default settings, over providers of both families, none
// of which has such an API.
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ModelMessage } from 'ai'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { hasProgram, programsOf, sdksOfAges } from '../../fixtures/clients.ts'
import { type Say, type StrictVendor, startStrictVendor } from '../../fixtures/proxy/strict-vendor.ts'
import { addVendors } from '../../fixtures/proxy/vendors.ts'
import { removeFolder, type Service, startService } from '../../scenarios/service.ts'

let service: Service
let vendor: StrictVendor
let script: () => Say
beforeAll(async () => {
  vendor = await startStrictVendor(() => script())
  service = await startService()
  await addVendors(service, vendor.url, { llma: 'a', llmo: 'o' })
})
afterAll(async () => {
  await vendor.stop()
  await service.stop()
  removeFolder(service.folder)
})
beforeEach(() => {
  vendor.asked.length = 0
})

/** What the vendor was asked, without looks at its list of models and at an API that it does not have. */
const words = (at: number) =>
  JSON.stringify(vendor.asked.filter(({ path }) => /\/(messages|chat\/completions)$/.test(path))[at]?.body)

/** With the tools of the service beside the client's own, and without. */
const ways = [
  ['a/m', {}],
  ['a/m', { 'X-Svc-Tools': 'disabled' }],
  ['o/m', {}],
  ['o/m', { 'X-Svc-Tools': 'disabled' }],
] as const

/** The oldest have the messages of all steps in their response. */
async function keepTurn(turn: {
  text: string | PromiseLike<string>
  response: { messages: ModelMessage[] } | PromiseLike<{ messages: ModelMessage[] }>
  responseMessages?: ModelMessage[] | PromiseLike<ModelMessage[]>
}): Promise<{ text: string; responseMessages: ModelMessage[] }> {
  return { text: await turn.text, responseMessages: (await turn.responseMessages) ?? (await turn.response).messages }
}

const lookUp = { id: 'call_v1', name: 'get_weather', args: { city: 'Oslo' } }
const talk: Say[] = [
  { thinking: 'weather?', calls: [lookUp] },
  { text: 'It rains in Oslo.' },
  { text: 'Take an umbrella.' },
]

/** Each way with the SDKs of each age. */
const waysOfSdks = sdksOfAges.flatMap((sdks) => ways.map(([model, headers]) => ({ ...sdks, model, headers })))

describe.each(waysOfSdks)(
  'the $age Vercel AI SDK with its default model object, over $model with $headers [PROXY-022]',
  ({ ai: { generateText, streamText, tool }, createOpenAI, model, headers }) => {
    const openModel = () => createOpenAI({ apiKey: service.token, baseURL: `${service.url}/llmo/v1`, headers })(model)

    it.each(['whole', 'streamed'])('goes on over several turns and tools: %s', async (how) => {
      const turns = [...talk]
      script = () => turns.shift() ?? {}
      const get_weather = tool({
        description: 'The weather',
        inputSchema: z.object({ city: z.string() }),
        execute: ({ city }) => `rain in ${city}`,
      })
      const first = [{ role: 'user' as const, content: 'the weather?' }]
      const ask = async (messages: NonNullable<Parameters<typeof generateText>[0]['messages']>) => {
        const settings = {
          model: openModel(),
          messages,
          tools: { get_weather },
          stopWhen: ({ steps }: { steps: unknown[] }) => steps.length === 4,
          maxRetries: 0,
        }
        if (how === 'whole') return keepTurn(await generateText(settings))
        const stream = streamText({ ...settings, onError: () => {} })
        // The oldest do not read it by themselves.
        await stream.consumeStream()
        return keepTurn(stream)
      }
      const one = await ask(first)
      expect(one.text).toBe('It rains in Oslo.')
      const two = await ask([...first, ...one.responseMessages, { role: 'user', content: 'and now?' }])
      expect(two.text).toBe('Take an umbrella.')
      for (const text of ['the weather?', 'rain in Oslo', 'It rains in Oslo.', 'and now?'])
        expect(words(2)).toContain(text)
    })
  },
)

describe.each(waysOfSdks)(
  'the $age TypeScript SDK of llmo, over $model with $headers [PROXY-022]',
  ({ OpenAI, model, headers }) => {
    it('streams, calls tools and goes on by previous_response_id', async () => {
      const turns: Say[] = [{ calls: [lookUp] }, { text: 'It rains in Oslo.' }]
      script = () => turns.shift() ?? {}
      const client = new OpenAI({
        apiKey: service.token,
        baseURL: `${service.url}/llmo/v1`,
        maxRetries: 0,
        defaultHeaders: headers,
      })
      const parameters = { type: 'object', properties: { city: { type: 'string' } }, additionalProperties: false }
      const tools = [{ type: 'function' as const, name: 'get_weather', parameters, strict: false }]
      const first = await client.responses.stream({ model, input: 'the weather?', tools }).finalResponse()
      const [call] = first.output.filter((item) => item.type === 'function_call')
      expect(JSON.parse(call?.arguments ?? '')).toEqual({ city: 'Oslo' })
      const output = { type: 'function_call_output' as const, call_id: call?.call_id ?? '', output: 'rain' }
      const second = await client.responses.create({ model, input: [output], tools, previous_response_id: first.id })
      expect(second.output_text).toBe('It rains in Oslo.')
      expect(words(1)).toContain('the weather?')
    })
  },
)

const codex = join(programsOf('newest'), 'codex')

/** An MCP server, which Codex offers to the model as a tool of type namespace. */
const sums = `
import { createInterface } from 'node:readline'
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const tools = [{ name: 'add', description: 'Adds.', inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } } }]
  const result =
    method === 'initialize'
      ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'sums', version: '1' } }
      : method === 'tools/list'
        ? { tools }
        : method === 'tools/call'
          ? { content: [{ type: 'text', text: 'the sum is ' + (params.arguments.a + params.arguments.b) }] }
          : {}
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
})
`

function writeConfig(home: string, { model, headers }: { model: string; headers: Record<string, string> }): void {
  const server = join(home, 'sums.mjs')
  writeFileSync(server, sums)
  const lines = [
    `model = "${model}"`,
    'model_provider = "svc"',
    '[model_providers.svc]',
    'name = "svc"',
    `base_url = "${service.url}/llmo/v1"`,
    'env_key = "SVC_TOKEN"',
    'wire_api = "responses"',
    'request_max_retries = 0',
    'stream_max_retries = 0',
    `http_headers = { ${Object.entries(headers).map(([name, value]) => `"${name}" = "${value}"`)} }`,
    '[mcp_servers.sums]',
    `command = "${process.execPath}"`,
    `args = ["${server}"]`,
    'default_tools_approval_mode = "approve"',
  ]
  writeFileSync(join(home, 'config.toml'), lines.join('\n'))
}

type Run = { code: number | null; output: string }

function runCodex(home: string, folder: string, args: string[]): Promise<Run> {
  const child = spawn(codex, ['exec', '--skip-git-repo-check', '--json', '-C', folder, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...service.env, CODEX_HOME: home, SVC_TOKEN: service.token },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (part: Buffer) => {
      output += part.toString()
    })
  }
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })))
}

describe.skipIf(!hasProgram('newest', 'codex')).each(ways)(
  'Codex, over %s with %o (scripts/install-clients.sh)',
  (model, headers) => {
    it('edits a file, calls a tool of an MCP server, and goes on with the session [PROXY-023]', async () => {
      const name = `${model[0]}-${Object.keys(headers).length}`
      const home = join(service.folder, `codex-${name}`)
      const folder = join(service.folder, `project-${name}`)
      mkdirSync(home, { recursive: true })
      mkdirSync(folder, { recursive: true })
      writeConfig(home, { model, headers })
      const cmd = 'printf moon > greeting.txt'
      const turns: Say[] = [
        {
          thinking: 'I write.',
          text: 'First the file.',
          calls: [{ id: 'call_v1', name: 'exec_command', args: { cmd } }],
        },
        { thinking: 'I add.', calls: [{ id: 'call_v2', name: 'mcp__sums__add', args: { a: 2, b: 3 } }] },
        { text: 'All is done.' },
        { text: 'And well.' },
      ]
      script = () => turns.shift() ?? { text: 'nothing left' }
      const flags = ['--dangerously-bypass-approvals-and-sandbox']
      const first = await runCodex(home, folder, [...flags, 'write the greeting, then add'])
      expect([first.code, first.output]).toEqual([0, expect.stringContaining('All is done.')])
      expect(readFileSync(join(folder, 'greeting.txt'), 'utf8')).toBe('moon')
      expect(words(2)).toContain('the sum is 5')
      const second = await runCodex(home, folder, [...flags, 'resume', '--last', 'is it well?'])
      expect([second.code, second.output]).toEqual([0, expect.stringContaining('And well.')])
      for (const text of ['First the file.', 'the sum is 5', 'All is done.', 'is it well?'])
        expect(words(3)).toContain(text)
    })
  },
)
