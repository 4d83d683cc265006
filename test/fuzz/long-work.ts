// How long each reader of foreign texts holds the event loop with the longest text that its door lets through. Time of the CPU counts, so
// that whatever else the machine does changes nothing.
import { readers } from './readers.ts'

const mebibyte = 1024 ** 2
/** What every reader gets whose door is not named below. */
const usualLength = 16 * mebibyte
const maxMs = 250
/** On a slow machine as long as this many plain passes over a text of the usual length take, where that is more. */
const maxPasses = 7

/** Characters that reach a reader at once, and what bounds them. */
const doors: Record<string, number> = {
  // src/worker/task-log.ts: maxBeginningLength.
  'redaction of a growing line': 16_384,
  // src/observability/log.ts: maxLineLength.
  'redaction of a line of JSON': mebibyte,
  // The text is in it five times.
  'a file of a diff': Math.floor(usualLength / 5),
  // src/rules/monitors/verdict.ts: fields of a finding are cut.
  'a comment of a review': 8000,
  // src/rules/scans/left-out.ts: maxSourceBytes.
  'a quotation': mebibyte,
  // Names of the contract.
  'a label': 1024,
  // dashboard/src/parts/markdown/markdown.tsx: longer ones are shown as they are written.
  Markdown: 40_000,
  // dashboard/src/views/task/log-lines.ts: longestShown.
  'colours of a line': 4000,
  // src/git/diff.ts: maxDiffBytes.
  'a diff in the dashboard': 2 * mebibyte,
}
/** They read in threads (src/usecases/scans/sarif-thread.ts). */
const inThreads = ['SARIF as such', 'texts in SARIF']
/** src/rules/scans/left-out.ts: maxSourceBytes. */
const isSource = (reader: string) => reader.startsWith('the file ')

const lines: Record<string, string> = {
  'one character': 'a',
  blanks: ' ',
  dashes: '-',
  'frames of keys': '-----BEGIN ',
  headers: 'authorization: ',
  JSON: '{"a":[1,2,{"b":"c"}],"password":"hunter22"},',
  code: 'function read(path) { return open(path, { token }) }\n',
  prose: 'The quick brown fox jumps over the lazy dog at 12:30 on https://a.example/x?y=1\n',
  Markdown: '# a\n\n- b **c** `d`\n',
  HTML: '<div class="a"><p>x</p></div>',
  'a diff': 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+b\n c\n',
}

function lengthFor(reader: string): number {
  return doors[reader] ?? (isSource(reader) ? mebibyte : usualLength)
}

async function measure(read: (text: string) => unknown, text: string): Promise<number> {
  const before = process.cpuUsage()
  // What is refused in words is no fault.
  await (async () => read(text))().catch(() => undefined)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

function sumCharacters(text: string): number {
  let sum = 0
  for (let at = 0; at < text.length; at += 1) sum = (sum * 31 + text.charCodeAt(at)) | 0
  return sum
}

/** What the machine needs at least to look at each character once; others do so in more steps. */
async function measurePass(): Promise<number> {
  const text = 'a'.repeat(usualLength)
  const times = [
    await measure(sumCharacters, text),
    await measure(sumCharacters, text),
    await measure(sumCharacters, text),
  ]
  return Math.min(...times)
}

type LongWork = { reader: string; length: number; text: string; ms: number }

/** The text that each reader takes longest for, the slowest first. */
export async function measureLongWork(): Promise<{ slowest: LongWork[]; faults: string[] }> {
  const slowest: LongWork[] = []
  const mostMs = Math.max(maxMs, Math.round(maxPasses * (await measurePass())))
  for (const [reader, read] of Object.entries(readers)) {
    if (inThreads.includes(reader)) continue
    const length = lengthFor(reader)
    const works: LongWork[] = []
    for (const [text, line] of Object.entries(lines)) {
      const long = line.repeat(Math.ceil(length / line.length)).slice(0, length)
      // Collecting the garbage of the text before it is no work of this one.
      const ms = Math.min(await measure(read, long), await measure(read, long))
      works.push({ reader, length, text, ms: Math.round(ms) })
    }
    slowest.push(...works.toSorted((a, b) => b.ms - a.ms).slice(0, 1))
  }
  const faults = slowest
    .filter(({ ms }) => ms > mostMs)
    .map(
      ({ reader, length, text, ms }) =>
        `${reader} takes ${ms} ms of the CPU for ${length} characters of ${text}, and ${mostMs} are the most`,
    )
  return { slowest: slowest.toSorted((a, b) => b.ms - a.ms), faults }
}
