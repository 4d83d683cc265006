// Which files five journeys really pass: `npm run journeys [-- CHECKOUT]` starts the service of a checkout from its source and asks V8 which
// functions ran. What runs on each start, or at rest, does not count.
import { execFileSync, spawn } from 'node:child_process'
import { createHmac, randomUUID } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Loaded into the service and into each worker: tells what ran since it was last asked, or until the process ended. */
const hook = `
import { Session } from 'node:inspector'
import { writeFileSync } from 'node:fs'
const session = new Session()
session.connect()
session.post('Profiler.enable')
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
let asked = 0
function write(name) {
  session.post('Profiler.takePreciseCoverage', (_error, { result }) => {
    const ran = result.filter(({ url, functions }) => url.includes('/src/') && functions.some(({ functionName, ranges }) => functionName !== '' && ranges[0].count > 0))
    writeFileSync(process.env.JOURNEY_FOLDER + '/' + name, JSON.stringify(ran.map(({ url }) => url.slice(url.indexOf('/src/') + 1))))
  })
}
process.on('SIGUSR2', () => write('service-' + ++asked))
if (process.argv[1].endsWith('worker.ts')) process.on('exit', () => write('worker-' + process.pid))
`

const secret = randomUUID()
/** Where the service looks for bubblewrap. */
const searchPath = '/usr/bin:/usr/local/bin:/bin:/run/current-system/sw/bin'

function copyCheckout(from: string, to: string, folder: string): void {
  for (const name of ['src', 'bin', 'package.json']) cpSync(join(from, name), join(to, name), { recursive: true })
  symlinkSync(join(from, 'node_modules'), join(to, 'node_modules'))
  const text = hook.replaceAll('process.env.JOURNEY_FOLDER', JSON.stringify(folder))
  writeFileSync(join(to, 'journey-hook.mjs'), text)
  // Without bubblewrap workers are plain processes, which can say what ran in them.
  const looking = execFileSync('grep', ['-rl', searchPath, join(to, 'src')], { encoding: 'utf8' })
    .trim()
    .split('\n')
  for (const file of looking) writeFileSync(file, readFileSync(file, 'utf8').replace(searchPath, '/nowhere'))
  const worker = join(to, 'src', 'worker.ts')
  writeFileSync(worker, `import '../journey-hook.mjs'\n${readFileSync(worker, 'utf8')}`)
}

type Service = { url: string; token: string; pid: number; folder: string; end(): Promise<void> }

async function startService(checkout: string): Promise<Service> {
  const root = mkdtempSync(join(tmpdir(), 'svc-journeys-'))
  const [copy, folder, ready] = [join(root, 'copy'), join(root, 'ran'), join(root, 'ready.json')]
  mkdirSync(folder)
  copyCheckout(checkout, copy, folder)
  const flags = [
    '--port',
    '0',
    '--ready-file',
    ready,
    '--data-dir',
    join(root, 'data'),
    '--config-dir',
    join(root, 'config'),
  ]
  const program = ['--import', join(copy, 'journey-hook.mjs'), join(copy, 'src', 'server.ts'), ...flags]
  const env = { PATH: dirname(process.execPath), HOME: root }
  const more = [
    '--log-level',
    'error',
    '--allow-unsandboxed',
    '--codehost-hosts',
    'codehost.invalid',
    '--codehost-webhook-secret',
    secret,
  ]
  const child = spawn(process.execPath, [...program, ...more], { env, stdio: ['ignore', 'ignore', 'inherit'] })
  const ended = new Promise<void>((done) => child.once('exit', () => done()))
  for (let left = 600; !existsSync(ready) && left > 0; left -= 1) await sleep(50)
  const { url, token } = JSON.parse(readFileSync(ready, 'utf8')) as { url: string; token: string }
  const end = async () => {
    child.kill('SIGTERM')
    await ended
    rmSync(root, { recursive: true, force: true })
  }
  return { url, token, pid: child.pid ?? 0, folder, end }
}

async function call<T>(service: Service, path: string, body?: object): Promise<T> {
  const headers = { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' }
  const request = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
  const answer = await fetch(`${service.url}${path}`, request)
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`)
  return JSON.parse(text || 'null') as T
}

let taken = 0
async function takeCoverage({ pid, folder }: Service): Promise<string[]> {
  const file = join(folder, `service-${++taken}`)
  process.kill(pid, 'SIGUSR2')
  while (!existsSync(file)) await sleep(20)
  await sleep(50)
  return JSON.parse(readFileSync(file, 'utf8')) as string[]
}

async function runTask(service: Service): Promise<void> {
  const name = `journey-${randomUUID().slice(0, 8)}`
  await call(service, '/api/v1/tasks', {
    name,
    type: 'ai',
    prompt: 'write hello to notes.txt, then read notes.txt',
    ai: { providerRef: { name: 'demo' } },
  })
  const deadline = Date.now() + 60_000
  for (;;) {
    const { status } = await call<{ status?: { phase?: string } }>(service, `/api/v1/tasks/${name}`)
    if (status?.phase === 'Succeeded') return
    if (status?.phase === 'Failed' || Date.now() > deadline) throw new Error(`the task: ${JSON.stringify(status)}`)
    await sleep(50)
  }
}

/** A vendor that asks for one of the service's tools, then answers. */
async function startVendor(): Promise<{ url: string; close(): void }> {
  const server = createServer((request, reply) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      const isFirst = !body.includes('tool_result')
      const use = { type: 'tool_use', id: 'call-1', name: 'web_fetch', input: { url: 'http://127.0.0.1:9/' } }
      const content = isFirst ? [use] : [{ type: 'text', text: 'done' }]
      const rest = { stop_reason: isFirst ? 'tool_use' : 'end_turn', usage: { input_tokens: 1, output_tokens: 1 } }
      reply.setHeader('content-type', 'application/json')
      reply.end(JSON.stringify({ id: 'msg-1', type: 'message', role: 'assistant', model: 'm', content, ...rest }))
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() }
}

async function callProxy(service: Service): Promise<void> {
  await call(service, '/llma/v1/messages', {
    model: 'main/m',
    max_tokens: 50,
    messages: [{ role: 'user', content: 'look at http://127.0.0.1:9/' }],
  })
}

async function deliver({ url }: Service): Promise<void> {
  const page = 'https://codehost.invalid/octo/demo'
  const repository = { full_name: 'octo/demo', html_url: page, clone_url: `${page}.git`, default_branch: 'main' }
  const issue = {
    number: 1,
    title: 'A task',
    body: 'Some lines.',
    html_url: `${page}/issues/1`,
    updated_at: new Date().toISOString(),
    state: 'open',
    user: { login: 'octocat', type: 'User' },
  }
  const payload = {
    action: 'labeled',
    label: { name: 'other' },
    repository,
    issue,
    sender: { login: 'octocat', type: 'User' },
  }
  const body = JSON.stringify(payload)
  const signature = createHmac('sha256', secret).update(body).digest('hex')
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'issues',
    'x-github-delivery': randomUUID(),
    'x-hub-signature-256': `sha256=${signature}`,
  }
  const answer = await fetch(`${url}/webhooks/codehost`, { method: 'POST', body, headers })
  if (!answer.ok) throw new Error(`the delivery was answered ${answer.status}: ${await answer.text()}`)
}

async function addProvider(service: Service, baseURL: string): Promise<void> {
  await call(service, '/api/v1/secrets', { name: 'vendor', stringData: { 'api-key': randomUUID() } })
  await call(service, '/api/v1/providers', {
    name: 'main',
    spec: { type: 'llma', baseURL, secretRef: { name: 'vendor' } },
  })
}

async function searchMemories(service: Service): Promise<void> {
  await call(service, '/api/v1/memories?query=hello')
}

function readWorkers(folder: string): string[] {
  return [
    ...new Set(listWorkers(folder).flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as string[])),
  ]
}

const listWorkers = (folder: string) => readdirSync(folder).filter((name) => name.startsWith('worker-'))

/** What the second run of a journey passes: what is loaded once is loaded by then. */
async function measureJourney(service: Service, go: (service: Service) => Promise<void>) {
  await go(service)
  await sleep(3000)
  await takeCoverage(service)
  const hadWorker = listWorkers(service.folder).length > 0
  for (const name of listWorkers(service.folder)) rmSync(join(service.folder, name))
  await go(service)
  await sleep(1500)
  const ofService = await takeCoverage(service)
  // A worker tells what ran in it when it ends, which may be after the end of its task.
  for (let left = 100; hadWorker && listWorkers(service.folder).length === 0 && left > 0; left -= 1) await sleep(100)
  return { service: ofService, worker: readWorkers(service.folder) }
}

async function run(words: string[]): Promise<void> {
  const checkout = words.find((word) => !word.startsWith('--')) ?? '.'
  const vendor = await startVendor()
  const service = await startService(resolve(checkout))
  const tell = async (name: string, go: (service: Service) => Promise<void>) => {
    for (const [program, files] of Object.entries(await measureJourney(service, go))) {
      if (files.length === 0) continue
      console.log(`${name}: ${files.length} files of the ${program}`)
      if (words.includes('--files'))
        console.log(
          files
            .toSorted()
            .map((file) => `  ${file}`)
            .join('\n'),
        )
    }
  }
  try {
    await call(service, '/api/v1/providers', { name: 'demo', spec: { type: 'demo' } })
    await tell('a task', runTask)
    await addProvider(service, vendor.url)
    await tell('a proxied call with tools', callProxy)
    await tell('a delivery', deliver)
    await call(service, '/api/v1/memories', { content: 'hello is written to notes.txt' })
    await tell('a memory search', searchMemories)
  } finally {
    await service.end()
    vendor.close()
  }
}

await run(process.argv.slice(2))
