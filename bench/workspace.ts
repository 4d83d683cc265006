// Time to a ready workspace of a repository, cold and with its objects at hand, beside plain `git clone --depth 1`.
import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createEgress } from '../src/egress/egress.ts'
import { createCheckouts } from '../src/git/checkouts.ts'
import { type AttemptWorkspace, createWorkspaces } from '../src/runtime/folders/workspaces.ts'
import { makeRepository } from '../test/fixtures/git/repository.ts'
import { startGitServer } from '../test/fixtures/git/server.ts'
import { percentile, report, round } from './measure.ts'

const files = 5000
const commits = 2000
const rounds = 3
const parallel = 10
const workspaceSize = { bytes: 10 * 1024 ** 3, files: 1024 ** 2 }

/** Text that packs as source code does: words that repeat, in an order of its own for each file and version. */
function writeText(file: number, version: number): string {
  const words = ['const', 'return', 'value', 'await', 'export', 'function', 'import', 'type']
  let seed = file * 7919 + version * 104_729 + 1
  const next = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return words[Math.floor(seed / 65_536) % words.length]
  }
  return `${Array.from({ length: 40 }, () => Array.from({ length: 8 }, next).join(' ')).join('\n')}\n`
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`
}

/** One commit for git-fast-import(1): the first has all files, each other changes three. */
function writeCommit(number: number): string {
  const changed =
    number === 0 ? Array.from({ length: files }, (_, i) => i) : [1, 2, 3].map((i) => (number * 31 * i + i) % files)
  const blobs = changed.map((i) => `M 100644 inline src/part-${i % 100}/file-${i}.ts\n${data(writeText(i, number))}`)
  const head = `commit refs/heads/main\ncommitter A <a@example.com> ${1_700_000_000 + number * 60} +0000\n`
  return `${head}${data(`change ${number}`)}${blobs.join('')}`
}

function fill(repository: string): void {
  const stream = Array.from({ length: commits }, (_, number) => writeCommit(number)).join('')
  execFileSync('git', ['fast-import', '--quiet'], { cwd: repository, input: stream, maxBuffer: 2 ** 30 })
  execFileSync('git', ['repack', '-adq'], { cwd: repository })
}

type Sample = { ms: number; cpu: number }

/** Milliseconds of CPU of this process, and of all that it has started and that have ended (proc(5): stat). */
function readWholeCpu(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? []
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * 10
}

/** The server's part is counted too, on both sides. `shares`: for how many the work is. */
async function time(work: () => Promise<unknown>, shares = 1): Promise<Sample> {
  const [started, before] = [performance.now(), readWholeCpu()]
  await work()
  return { ms: (performance.now() - started) / shares, cpu: (readWholeCpu() - before) / shares }
}

const medianOf = (samples: Sample[], what: keyof Sample) =>
  percentile(
    samples.map((sample) => sample[what]),
    0.5,
  )

function row(what: string, samples: Sample[], base: Sample[]) {
  const share = (of: keyof Sample) => `${round((medianOf(samples, of) / medianOf(base, of)) * 100, 0)} %`
  return {
    what,
    'median, ms': round(medianOf(samples, 'ms'), 0),
    'min, ms': round(Math.min(...samples.map(({ ms }) => ms)), 0),
    'CPU, ms': round(medianOf(samples, 'cpu'), 0),
    'of a plain clone': share('ms'),
    'of its CPU': share('cpu'),
  }
}

async function measure(home: string, url: string): Promise<void> {
  const egress = createEgress()
  const policy = { allowNetworks: ['127.0.0.0/8'], deny: [] }
  const workspaces = createWorkspaces({ root: join(home, 'work'), size: workspaceSize })
  const layer = await workspaces.layer()
  console.log(`Workspaces: ${JSON.stringify(layer)}`)
  const opened: AttemptWorkspace[] = []
  let count = 0
  /** Their folders are made before: a worker that waits has one. */
  const open = async () => {
    const workspace = await workspaces.open(`work-${count++}`)
    opened.push(workspace)
    return workspace.folder
  }
  const signal = new AbortController().signal
  const make = (root: string) => {
    const checkouts = createCheckouts({ root: join(home, root), egress, policy })
    return (folder: string) => checkouts.prepare({ url }, folder, signal, workspaces.shared)
  }
  const samples: Record<'plain' | 'cold' | 'warm' | 'ten', Sample[]> = { plain: [], cold: [], warm: [], ten: [] }
  const run = promisify(execFile)
  await make('first')(await open())
  for (let i = 0; i < rounds; i += 1) {
    const at = (name: string) => join(home, `${name}-${i}`)
    samples.plain.push(await time(() => run('git', ['clone', '--quiet', '--depth', '1', url, at('plain')])))
    const prepare = make(`private-${i}`)
    const [first, second, ...places] = await Promise.all(Array.from({ length: parallel + 2 }, open))
    samples.cold.push(await time(() => prepare(first ?? '')))
    samples.warm.push(await time(() => prepare(second ?? '')))
    samples.ten.push(await time(() => Promise.all(places.map(prepare)), parallel))
    for (const workspace of opened.splice(0)) await workspace.remove()
    for (const name of ['plain', 'private']) rmSync(at(name), { recursive: true, force: true })
  }
  await egress.close()
  const base = samples.plain
  report('workspace', [
    row('plain `git clone --depth 1`', samples.plain, base),
    row('first workspace of a repository', samples.cold, base),
    row('second workspace', samples.warm, base),
    row(`each of ${parallel} at the same time`, samples.ten, base),
  ])
}

/** As `svc up` does it: workspaces are mounted where nobody else sees them. False: not for this user. */
function runApart(): boolean {
  if (process.getuid?.() !== 0 || process.env.BENCH_MOUNTS !== undefined) return false
  const program = [process.execPath, ...process.execArgv, process.argv[1] ?? '', 'workspace']
  const env = { ...process.env, BENCH_MOUNTS: 'own' }
  execFileSync('unshare', ['--mount', '--propagation', 'slave', ...program], { env, stdio: 'inherit' })
  return true
}

export async function run(): Promise<void> {
  if (runApart()) return
  const home = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const root = join(home, 'server')
  mkdirSync(root)
  fill(makeRepository(root, 'large'))
  const server = await startGitServer({ root })
  try {
    await measure(home, `${server.origin}/large.git`)
  } finally {
    await server.stop()
    rmSync(home, { recursive: true, force: true })
  }
}
