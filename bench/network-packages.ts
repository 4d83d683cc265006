// What package managers take through forwarder and gate beside the same without them, in pairs: the registries that this machine has set up
// for them, and for git a server on it. All begin with empty caches.
import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { listProxyVariables } from '../src/contract/values/proxy-variables.ts'
import { startFloor } from './floor.ts'
import { percentile, type Row, round } from './measure.ts'

const rounds = Number(process.env.BENCH_ROUNDS ?? 5)

type Tool = {
  name: string
  /** Run by a shell in an empty folder, `$1`: the address of the repository. */
  script: string
  files?: Record<string, string>
  env?: Record<string, string>
}

const cargoManifest = `[package]
name = "bench"
version = "1.0.0"
edition = "2021"
[dependencies]
tokio = { version = "1", features = ["full"] }
serde_json = "1"
`

const tools: Tool[] = [
  { name: 'git clone', script: 'git clone -q --bare "$1" copy' },
  {
    name: 'npm install',
    script: 'npm install --no-audit --no-fund --loglevel error --cache "$PWD/cache" express typescript',
  },
  { name: 'pip install', script: 'pip install -q --no-cache-dir --no-compile --target packages requests numpy' },
  {
    name: 'cargo fetch',
    script: 'CARGO_HOME=$PWD/cargo cargo fetch -q',
    files: { 'Cargo.toml': cargoManifest, 'src/main.rs': 'fn main() {}\n' },
  },
  {
    name: 'cargo build',
    script: 'CARGO_HOME=$PWD/cargo cargo build -q',
    files: { 'Cargo.toml': cargoManifest.replace(/tokio.*\n/, ''), 'src/main.rs': 'fn main() {}\n' },
  },
  {
    name: 'go build',
    script:
      'GOPATH=$PWD/go GOCACHE=$PWD/cache GOTOOLCHAIN=local GOFLAGS="-modcacherw -mod=mod" go build -o bench . 2>errors || { cat errors >&2; exit 1; }',
    files: {
      'go.mod': 'module bench\n\ngo 1.21\n\nrequire github.com/spf13/cobra v1.8.1\n',
      'main.go': `package main

import "github.com/spf13/cobra"

func main() { _ = (&cobra.Command{Use: "bench"}).Execute() }
`,
    },
  },
  {
    name: 'apt-get download',
    script: 'apt-get download -qq -o APT::Sandbox::User=root git',
  },
]

/** `BENCH_TOOLS=go,apt-get`: only these, by their programs; absent: all. */
function listTools(): Tool[] {
  const { BENCH_TOOLS: wanted } = process.env
  return tools.filter(({ name }) => wanted === undefined || wanted.split(',').includes(name.split(' ')[0] ?? ''))
}

/** The history of the checkout that the bench is run in, as files. */
function serveRepository(folder: string) {
  const git = (...args: string[]) => execFileSync('git', args, { stdio: 'pipe' })
  git('clone', '-q', '--bare', join(import.meta.dirname, '..'), join(folder, 'repo.git'))
  git('-C', join(folder, 'repo.git'), 'repack', '-adq')
  git('-C', join(folder, 'repo.git'), 'update-server-info')
  return createServer(({ url = '' }, response) => {
    const file = join(folder, new URL(url, 'http://x').pathname)
    if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return void response.writeHead(404).end()
    response.end(readFileSync(file))
  })
}

/** Seconds. */
async function timeTool(
  { script, files = {} }: Tool,
  repository: string,
  proxy: Record<string, string>,
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-packages-'))
  try {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(join(folder, name, '..'), { recursive: true })
      writeFileSync(join(folder, name), content)
    }
    const env = { ...process.env, ...proxy }
    const began = performance.now()
    await promisify(execFile)('/bin/sh', ['-ec', script, 'sh', repository], { cwd: folder, env, timeout: 300_000 })
    return (performance.now() - began) / 1000
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

type Way = { repository: string; proxy: Record<string, string> }

type Pair = { without: number; within: number }

/** Which of the two begins changes from pair to pair; the first pair only warms up. */
async function timePairs(tool: Tool, direct: Way, gated: Way): Promise<Pair[]> {
  const time = ({ repository, proxy }: Way) => timeTool(tool, repository, proxy)
  const pairs: Pair[] = []
  for (let at = 0; at <= rounds; at += 1) {
    const first = await time(at % 2 === 0 ? direct : gated)
    const second = await time(at % 2 === 0 ? gated : direct)
    pairs.push(at % 2 === 0 ? { without: first, within: second } : { without: second, within: first })
  }
  return pairs.slice(1)
}

function describePairs(what: string, pairs: Pair[]): Row {
  const speeds = pairs.map(({ without, within }) => (without / within) * 100)
  const median = (samples: number[]) => percentile(samples, 0.5)
  return {
    what,
    'without, p50 s': round(median(pairs.map(({ without }) => without)), 2),
    'through the gate, p50 s': round(median(pairs.map(({ within }) => within)), 2),
    'speed, % of without, p50 of the pairs': round(median(speeds), 0),
    'smallest and largest': `${round(Math.min(...speeds), 0)} to ${round(Math.max(...speeds), 0)}`,
  }
}

async function measureTool(tool: Tool, direct: Way, gated: Way): Promise<Row> {
  try {
    return describePairs(tool.name, await timePairs(tool, direct, gated))
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string }
    return { what: tool.name, failed: (stderr.trim() || String(error)).slice(-200) }
  }
}

/** `startForwarder`: as in a sandbox, to the socket. */
export async function measurePackages(
  startForwarder: (socket: string) => Promise<{ port: number; stop(): void }>,
): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-repository-'))
  const server = serveRepository(folder)
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const gate = await startFloor('network-packages-gate.ts', String(port))
  const forwarder = await startForwarder(gate.url)
  const direct = { repository: `http://127.0.0.1:${port}/repo.git`, proxy: {} }
  const proxy = listProxyVariables(`http://127.0.0.1:${forwarder.port}`)
  const gated = { repository: 'http://git.bench.example/repo.git', proxy }
  const rows: Row[] = []
  try {
    for (const tool of listTools()) {
      const row = await measureTool(tool, direct, gated)
      // It takes minutes, and who ends it early knows this much.
      process.stderr.write(`${JSON.stringify(row)}\n`)
      rows.push(row)
    }
  } finally {
    forwarder.stop()
    gate.child.disconnect()
    server.close()
    rmSync(folder, { recursive: true })
  }
  return rows
}
