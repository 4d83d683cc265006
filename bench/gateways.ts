// The gateways that are measured one after another behind one mock vendor: each a process, an address and its headers.
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startService } from './service.ts'

export type Gateway = {
  name: string
  url: string
  /** Of the process under test. */
  pid: number
  path: string
  headers: Record<string, string>
  /** How the model is called here. */
  model: (name: string) => string
  stop(): Promise<void>
}

type Started = Gateway | { name: string; skipped: string }

const peers = join(import.meta.dirname, 'peers')

function forkFloor(file: string, ...args: string[]): Promise<{ url: string; child: ChildProcess }> {
  const path = join(import.meta.dirname, 'floors', file)
  const child = fork(path, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  return new Promise((resolve) =>
    child.once('message', (message) => resolve({ url: (message as { url: string }).url, child })),
  )
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  if (child.connected) child.disconnect()
  else child.kill('SIGTERM')
  await ended
}

const same = (name: string) => name

export async function startUpstream(): Promise<Gateway> {
  const { url, child } = await forkFloor('proxy-upstream.ts')
  const stop = () => endChild(child)
  return { name: 'direct', url, pid: child.pid ?? 0, path: '/v1/messages', headers: {}, model: same, stop }
}

export async function startPipe(upstream: string): Promise<Gateway> {
  const { url, child } = await forkFloor('proxy-pipe.ts', upstream)
  const stop = () => endChild(child)
  return { name: 'bare pipe', url, pid: child.pid ?? 0, path: '/v1/messages', headers: {}, model: same, stop }
}

/** The service with one provider; the same process passes through or runs the loop. */
export async function startOurs(upstream: string): Promise<{ passthrough: Gateway; loop: Gateway }> {
  const service = await startService()
  const create = async (path: string, body: object) => {
    const answer = await fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  }
  await create('/api/v1/secrets', { name: 'bench', stringData: { 'api-key': 'made-up-key-000000' } })
  const spec = { type: 'llma', baseURL: upstream, secretRef: { name: 'bench', key: 'api-key' } }
  await create('/api/v1/providers', { name: 'bench', spec })
  const headers = { 'x-api-key': service.token, 'anthropic-version': '2023-06-01' }
  const ours = {
    url: service.url,
    pid: service.pid,
    path: '/llma/v1/messages',
    model: (name: string) => `bench/${name}`,
  }
  return {
    passthrough: { ...ours, name: 'svc', headers: { ...headers, 'x-svc-tools': 'disabled' }, stop: service.stop },
    loop: { ...ours, name: 'svc, loop', headers, stop: async () => {} },
  }
}

function findPort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

async function waitForAnswer(url: string, child: ChildProcess): Promise<boolean> {
  const deadline = Date.now() + 90_000
  while (Date.now() < deadline && child.exitCode === null) {
    const answers = await fetch(url).then(
      () => true,
      () => false,
    )
    if (answers) return true
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  return false
}

export async function startPortkey(upstream: string): Promise<Started> {
  const name = 'Portkey 1.15.2'
  const program = join(peers, 'node_modules', '@portkey-ai', 'gateway', 'build', 'start-server.js')
  if (!existsSync(program)) return { name, skipped: 'not installed: scripts/install-peers.sh' }
  const port = await findPort()
  const child = spawn(process.execPath, [program, `--port=${port}`, '--headless'], { stdio: 'ignore' })
  const url = `http://127.0.0.1:${port}`
  if (!(await waitForAnswer(url, child))) return { name, skipped: 'it did not start' }
  const headers = {
    'x-portkey-provider': 'anthropic',
    'x-portkey-custom-host': `${upstream}/v1`,
    authorization: 'Bearer made-up-key-000000',
  }
  return { name, url, pid: child.pid ?? 0, path: '/v1/messages', headers, model: same, stop: () => endChild(child) }
}

export async function startLiteLlm(upstream: string): Promise<Started> {
  const name = 'LiteLLM'
  const program = join(peers, 'python', 'bin', 'litellm')
  if (!existsSync(program)) return { name, skipped: 'not installed: scripts/install-peers.sh' }
  const port = await findPort()
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-litellm-'))
  const params = { model: 'anthropic/*', api_base: upstream, api_key: 'made-up-key-000000' }
  const config = join(folder, 'config.json')
  writeFileSync(config, JSON.stringify({ model_list: [{ model_name: '*', litellm_params: params }] }))
  // It does not start without a key of its own.
  const key = `sk-${randomUUID()}`
  const quiet = { LITELLM_TELEMETRY: 'False', LITELLM_LOCAL_MODEL_COST_MAP: 'True' }
  const env = { ...process.env, ...quiet, LITELLM_MASTER_KEY: key }
  const child = spawn(program, ['--config', config, '--host', '127.0.0.1', '--port', String(port)], {
    stdio: 'ignore',
    env,
  })
  const url = `http://127.0.0.1:${port}`
  if (!(await waitForAnswer(`${url}/health/liveliness`, child))) return { name, skipped: 'it did not start' }
  const stop = async () => {
    await endChild(child)
    rmSync(folder, { recursive: true, force: true })
  }
  return { name, url, pid: child.pid ?? 0, path: '/v1/messages', headers: { 'x-api-key': key }, model: same, stop }
}
