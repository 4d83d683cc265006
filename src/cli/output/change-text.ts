// What differs in the lines of files that a task changed, for people: written by git, where it is installed.
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FolderChange, Given } from '../files/folder-changes.ts'
import { digestOfBytes } from '../files/folder-files.ts'
import type { Colors } from './terminal.ts'

/** Beyond this nobody reads on. */
const mostLines = 400
const mostBytes = 64 * 1024 ** 2

/** Files have numbers for names: those of a task could have attributes that hide what changed. */
async function writePair(place: string, number: string, { change, given }: { change: FolderChange; given: Given }) {
  const before = await readFile(join(given.folder, change.path)).catch(() => undefined)
  const sent = given.digests.get(change.path)
  // It was changed here meanwhile, and is kept as it is.
  if ((before && digestOfBytes(before)) !== sent) return
  if (before !== undefined) await writeFile(join(place, 'before', number), before)
  if (change.content !== undefined) await writeFile(join(place, 'after', number), change.content)
}

/** Undefined without git. */
function runDiff(place: string): Promise<string | undefined> {
  const usual = ['--no-pager', '-c', 'core.quotePath=false', '-c', 'core.safecrlf=false']
  const how = ['--no-ext-diff', '--no-textconv', '--no-color', '--no-renames', '--src-prefix=', '--dst-prefix=']
  const args = [...usual, 'diff', '--no-index', ...how, 'before', 'after']
  return new Promise((resolve) => {
    execFile('git', args, { cwd: place, maxBuffer: mostBytes }, (error, stdout) => {
      // 1: they differ.
      resolve(error === null || error.code === 1 ? stdout : undefined)
    })
  })
}

/** `diff --git before/3 after/3`, or twice the one that there is. */
const section = /^diff --git \S+\/(\d+) \S+\/\d+\n/m

type Section = { change: FolderChange; lines: string[] }

/** Only those that have lines: not of binary or empty files. */
function readSections(output: string, changes: FolderChange[]): Section[] {
  const parts = output.split(section)
  const sections: Section[] = []
  for (let at = 1; at + 1 < parts.length; at += 2) {
    const change = changes[Number(parts[at])]
    const lines = (parts[at + 1] ?? '').replace(/\n$/, '').split('\n')
    const start = lines.findIndex((line) => line.startsWith('@@ '))
    if (change !== undefined && start >= 0) sections.push({ change, lines: lines.slice(start) })
  }
  return sections
}

function paintLine(line: string, colors: Colors): string {
  if (line.startsWith('+')) return colors.green(line)
  if (line.startsWith('-')) return colors.red(line)
  return line.startsWith('@@ ') ? colors.dim(line) : line
}

/** Undefined when there are no lines to show. */
export async function describeLines(
  changes: FolderChange[],
  given: Given,
  colors: Colors,
): Promise<string | undefined> {
  const place = await mkdtemp(join(tmpdir(), 'svc-changes-'))
  try {
    for (const side of ['before', 'after']) await mkdir(join(place, side))
    for (const [number, change] of changes.entries()) await writePair(place, `${number}`, { change, given })
    const sections = readSections((await runDiff(place)) ?? '', changes)
    const lines = sections.flatMap(({ change, lines }) => [
      colors.bold(change.path),
      ...lines.map((line) => paintLine(line, colors)),
    ])
    if (lines.length === 0) return undefined
    const more = lines.length - mostLines
    return [...lines.slice(0, mostLines), ...(more > 0 ? [`... and ${more} more lines`] : [])].join('\n')
  } finally {
    await rm(place, { recursive: true, force: true })
  }
}
