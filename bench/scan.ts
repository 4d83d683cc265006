// A tree of 20,000 files cut into slices beside `git ls-files` and reading it; an incremental run; 5,000 findings taken in.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cutTree } from '../src/controllers/scans/trees.ts'
import { openCommitTree } from '../src/git/commit-tree.ts'
import { createNoteCache } from '../src/git/tree-cache.ts'
import { selectSlices } from '../src/rules/scans/slice-selection.ts'
import { type Row, report, round } from './measure.ts'
import { makeRandom } from './memory-texts.ts'
import { measureFindings } from './scan-findings.ts'

const files = Number(process.env.BENCH_FILES ?? 20_000)
const rounds = 5
const { signal } = new AbortController()

/** A module of some language, about 3 KiB, that imports others. */
function makeText(at: number, random: () => number): [path: string, text: string] {
  const folder = `services/s${at % 200}/src/part${Math.floor(at / 200) % 10}`
  const pick = () => Math.floor(random() * files)
  const body = Array.from(
    { length: 40 },
    (_, line) => `value_${line} = compute(${pick()}, "some text of line ${line}")`,
  )
  const name = `module_${at}`
  if (at % 4 === 0)
    return [
      `${folder}/${name}.py`,
      [`from part import module_${pick()}`, `def run_${at}(q):`, ...body.map((line) => `    ${line}`), ''].join('\n'),
    ]
  if (at % 4 === 1)
    return [
      `${folder}/${name}.go`,
      ['package part', `func Run${at}() {`, ...body.map((line) => `\t${line}`), '}', ''].join('\n'),
    ]
  const imports = Array.from({ length: 5 }, () => `import { run } from './module_${pick()}'`)
  return [
    `${folder}/${name}.ts`,
    [...imports, `export function run${at}() {`, ...body.map((line) => `  const ${line}`), '}', ''].join('\n'),
  ]
}

function makeTree(folder: string): void {
  const random = makeRandom(7)
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`
  const texts = Array.from({ length: files }, (_, at) => makeText(at, random))
  const packages = Array.from({ length: 200 }, (_, at): [string, string] => [
    `services/s${at}/package.json`,
    `{"name": "s${at}"}`,
  ])
  const head = `commit refs/heads/main\ncommitter a <a@example.com> 1700000000 +0000\n${data('first')}`
  const input = [head, ...[...texts, ...packages].map(([path, text]) => `M 100644 inline ${path}\n${data(text)}`)].join(
    '',
  )
  execFileSync('git', ['init', '--quiet', '--initial-branch=main', folder])
  execFileSync('git', ['fast-import', '--quiet'], { cwd: folder, input })
  execFileSync('git', ['reset', '--quiet', '--hard'], { cwd: folder })
}

function commitOne(folder: string): { base: string } {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: folder })
      .toString()
      .trim()
  const base = git('rev-parse', 'HEAD')
  writeFileSync(join(folder, 'services/s0/src/part0/module_0.py'), 'x = 1\n')
  git('commit', '--quiet', '-am', 'second')
  return { base }
}

async function median(work: () => unknown): Promise<number> {
  const took: number[] = []
  for (let at = 0; at < rounds; at += 1) {
    const began = performance.now()
    await work()
    took.push(performance.now() - began)
  }
  return took.toSorted((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0
}

function readPlainly(folder: string): number {
  const names = execFileSync('git', ['ls-files', '-z'], { cwd: folder, maxBuffer: 1024 ** 3 })
    .toString()
    .split('\0')
  return names.filter((name) => name !== '').reduce((sum, name) => sum + readFileSync(join(folder, name)).length, 0)
}

/** From the commit, as no program can avoid that has no work tree. */
function readObjects(folder: string): number {
  const run = (args: string[], input = '') => execFileSync('git', args, { cwd: folder, input, maxBuffer: 1024 ** 3 })
  const entries = run(['ls-tree', '-r', 'HEAD']).toString().trimEnd().split('\n')
  return run(['cat-file', '--batch', '--buffer'], entries.map((entry) => `${entry.split(/\s/)[2]}\n`).join('')).length
}

/** As a run does; `notes`: what earlier ones have noted. */
async function cut(folder: string, notes: string, base?: string) {
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: folder }).toString().trim()
  const tree = openCommitTree({ gitDir: join(folder, '.git'), commit, notes: createNoteCache(notes).of(folder) })
  const changes = base === undefined ? undefined : await tree.changesSince(base, signal)
  const place = { name: 'bench', subPath: undefined, removed: changes?.removed ?? [] }
  return selectSlices(await cutTree(tree, place, signal), changes, base !== undefined)
}

async function measureSlices(folder: string): Promise<Row[]> {
  const notes = join(folder, '.git', 'notes')
  const forget = () => rmSync(notes, { recursive: true, force: true })
  const plain = await median(() => readPlainly(folder))
  const objects = await median(() => readObjects(folder))
  const first = await median(async () => {
    forget()
    await cut(folder, notes)
  })
  const slices = await cut(folder, notes)
  const again = await median(() => cut(folder, notes))
  const { base } = commitOne(folder)
  const earlier = readNotes(notes)
  const incremental = await median(async () => {
    for (const [file, content] of earlier) writeFileSync(file, content)
    await cut(folder, notes, base)
  })
  const selected = (await cut(folder, notes, base)).filter(({ review }) => review).length
  const row = (what: string, ms: number) => ({
    what,
    ms: round(ms, 0),
    'x files': round(ms / plain, 2),
    'x git': round(ms / objects, 2),
  })
  return [
    row(`git ls-files and reading ${files} files`, plain),
    row('git ls-tree and cat-file: reading them from the commit', objects),
    row(`svc: first time, ${slices.length} slices`, first),
    row('svc: again', again),
    row(`svc: incremental, one file changed, ${selected} slice to review`, incremental),
  ]
}

const readNotes = (notes: string) =>
  readdirSync(notes).map((name): [string, Buffer] => [join(notes, name), readFileSync(join(notes, name))])

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  try {
    makeTree(folder)
    report('scan: slices', await measureSlices(folder))
    await measureFindings(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
