// Clients that generators make of the OpenAPI document: every creation can be written with their types, and is accepted.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ownerToken, type Service, startService } from '../../http/service.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const clients = join(root, 'test', 'clients')
const typescript = join(clients, 'node_modules', '.bin', 'openapi-typescript')
const python = join(clients, 'python', 'bin')
const document = join(root, 'docs', 'openapi.json')
/** In a run that makes a report, a generator that is not installed is a failure. */
const isMissing = (program: string) => !existsSync(program) && process.env.SVC_TEST_REPORT === undefined

const repoURL = 'https://github.com/acme/shop'
/** A body for each creation, with fields at every depth; null: it has none. */
const creations: Record<string, object | null> = {
  createSecret: { name: 'key', stringData: { 'api-key': 'made-up-0123' }, allowedHosts: ['api.example.com'] },
  createConfigMap: { name: 'prompts', data: { 'reviewer.md': 'You review.' }, metadata: { labels: { team: 'a' } } },
  createProvider: {
    metadata: { name: 'main', labels: { team: 'a' } },
    spec: { type: 'llmo', baseURL: 'https://api.example.com/v1', secretRef: { name: 'key' }, defaultModel: 'm' },
  },
  createTool: {
    name: 'weather',
    spec: {
      description: 'd',
      http: { url: 'https://api.example.com/{city}', method: 'GET' },
      parameters: { type: 'object', properties: { city: {} } },
    },
  },
  createSkill: { name: 'notes', spec: { description: 'How we write', content: { inline: '# Notes' } } },
  createAgent: {
    name: 'writer',
    spec: {
      providerRef: { name: 'main' },
      model: { name: 'm' },
      skills: [{ name: 'notes' }],
      systemPrompt: { inline: 'Write.' },
    },
  },
  createTask: { name: 'draft', type: 'ai', spec: { ai: { prompt: 'Write.' }, agentRef: { name: 'writer' } } },
  createMemory: { content: 'The port is 8443.', tags: ['network'] },
  createMemoryProposal: { title: 'Write shorter', type: 'memory', content: 'Write shorter.', agentName: 'writer' },
  createMonitor: { name: 'shop', spec: { repoURL, suspend: true, agents: { reviewer: { name: 'reviewer' } } } },
  createRepositoryScan: { name: 'shop', spec: { repoURL, analysisAgentRef: { name: 'writer' }, suspend: true } },
  createToken: { name: 'ci', role: 'runner', expires: '30d' },
  createSignInLink: null,
}

type Operation = { operationId: string; responses: object; tags: string[] }
type Paths = Record<string, { post?: Operation }>
const { paths } = JSON.parse(readFileSync(document, 'utf8')) as { paths: Paths }
const posts = Object.entries(paths).flatMap(([path, { post }]) => (post === undefined ? [] : [{ path, ...post }]))
const created = posts.filter(({ operationId, responses, path }) => {
  return operationId.startsWith('create') && '201' in responses && !path.includes('{')
})

let service: Service
let url: string
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-generated-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Every generator meets a service of its own. */
async function start(): Promise<void> {
  service = await startService()
  url = await service.listen()
  // What a monitor needs to be accepted.
  const keys = { name: 'reviewer-keys', stringData: { VENDOR_API_KEY: 'made-up-0123' } }
  expect((await service.call('POST /api/v1/secrets', { payload: keys })).statusCode).toBe(201)
  const spec = { runtime: { type: 'llma-cli' }, secretRef: { name: keys.name } }
  expect((await service.call('POST /api/v1/agents', { payload: { name: 'reviewer', spec } })).statusCode).toBe(201)
}

it('has a body for every creation', () => {
  expect(Object.keys(creations).toSorted()).toEqual(created.map(({ operationId }) => operationId).toSorted())
})

describe.skipIf(isMissing(typescript))('the client of openapi-typescript', () => {
  beforeAll(start)
  afterAll(() => service.stop())

  /** Type checks a program over the generated types. */
  function check(program: string): string {
    const file = join(folder, 'creations.ts')
    writeFileSync(file, program)
    const tsc = join(root, 'node_modules', '.bin', 'tsc')
    const flags = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'esnext', '--module', 'nodenext']
    try {
      execFileSync(tsc, [...flags, '--ignoreConfig', file], { cwd: folder, stdio: 'pipe' })
      return ''
    } catch (error) {
      return String((error as { stdout: Buffer }).stdout)
    }
  }

  const head = `import type { operations } from './types.js'
type Body<K extends keyof operations> = operations[K] extends { requestBody: { content: { 'application/json': infer B } } } ? B : null
`
  it('types each of them as the service takes it', async () => {
    // Otherwise it takes fields with a default, which the service fills in, for required ones.
    const flags = ['--default-non-nullable=false', '--output', join(folder, 'types.d.ts')]
    execFileSync(typescript, [document, ...flags], { stdio: 'pipe' })
    const lines = Object.entries(creations).map(
      ([id, body]) => `export const ${id}: Body<'${id}'> = ${JSON.stringify(body)}`,
    )
    expect(check(head + lines.join('\n'))).toBe('')
    const wrong = Object.keys(creations)
      .filter((id) => creations[id] !== null)
      .map(
        (id) =>
          `// @ts-expect-error no such field\nexport const ${id}: Body<'${id}'> = { ...${JSON.stringify(creations[id])}, of_tomorrow: 1 }`,
      )
    expect(check(head + wrong.join('\n'))).toBe('')
    for (const [id, body] of Object.entries(creations)) {
      const path = created.find(({ operationId }) => operationId === id)?.path
      const headers = { authorization: `Bearer ${ownerToken}`, 'content-type': 'application/json' }
      const answer = await fetch(`${url}${path}`, {
        method: 'POST',
        headers,
        body: body === null ? '{}' : JSON.stringify(body),
      })
      expect([id, answer.status, answer.status === 201 ? '' : await answer.text()]).toEqual([id, 201, ''])
    }
  })
})

describe.skipIf(isMissing(join(python, 'openapi-python-client')))('the client of openapi-python-client', () => {
  beforeAll(start)
  afterAll(() => service.stop())

  it('is whole, and its types lose nothing of what is sent', () => {
    const target = join(folder, 'svc_client')
    const flags = ['generate', '--path', document, '--output-path', target, '--meta', 'none']
    const said = execFileSync(join(python, 'openapi-python-client'), flags, { encoding: 'utf8' })
    expect(said).not.toMatch(/Unable to|Cannot|Warning|WARNING|ERROR/)
  })

  it('is accepted with each of them', async () => {
    const { execFile } = await import('node:child_process')
    const script = join(clients, 'generated.py')
    const output = await new Promise<string>((resolve, reject) => {
      const args = [script, join(folder, 'svc_client'), url, ownerToken]
      const child = execFile(join(python, 'python'), args, (error, stdout, stderr) => {
        if (error === null) resolve(stdout)
        else reject(new Error(stderr))
      })
      child.stdin?.end(JSON.stringify(creations))
    })
    const results = JSON.parse(output) as Record<string, [number, object | null, string]>
    for (const [id, body] of Object.entries(creations)) {
      const [status, sent, type] = results[id] ?? []
      expect([id, status, sent]).toEqual([id, 201, body])
      expect(type).not.toMatch(/^(NoneType|Error)$/)
    }
  })
})
