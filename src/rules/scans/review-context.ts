// What a reviewer is shown of a slice: its own files whole, then as much of those beside them as fits; and the manifest of
// it, against which findings are checked.
import { createHash } from 'node:crypto'
import type { LineRange, SliceDraft } from '../../contract/api/scans/runs.ts'
import { isInnerPath } from '../../lib/inner-path.ts'
import { decodeSource, leaveOutByBytes } from './left-out.ts'

export const contextCaps = { files: 48, bytes: 98_304, changedFiles: 32, changedRanges: 64 } as const

export type ContextRole = 'owned' | 'context' | 'test'
export type Lines = { startLine: number; endLine: number }

export type IncludedFile = {
  path: string
  role: ContextRole
  /** Of the file. */
  bytes: number
  includedBytes: number
  includedLineRanges: Lines[]
  /** Each line with its number before it: `12: text`. */
  excerpt?: string
  truncated: boolean
  readable: boolean
  skippedReason: 'unreadable' | null
}

export type OmittedFile = { path: string; role: ContextRole; reason: 'maxFiles' | 'maxBytes' | 'unsafePath' }

export type ReviewContext = {
  schemaVersion: 1
  sliceId: string
  changedFiles?: string[]
  changedLineRanges?: LineRange[]
  includedFiles: IncludedFile[]
  omittedFiles?: OmittedFile[]
  /** Of all excerpts. */
  promptBytes: number
  approximateTokens: number
}

type Wanted = { path: string; role: ContextRole; startLine?: number; endLine?: number }

/** Paths that the context of a slice may need, each once. */
export function listContextPaths(slice: SliceDraft): string[] {
  return [...new Set(listWanted(slice).map(({ path }) => path))]
}

function listWanted({ ownedFiles, contextFiles = [], tests = [] }: SliceDraft): Wanted[] {
  const owned = ownedFiles.map(({ path, startLine, endLine }): Wanted => {
    return startLine === undefined || endLine === undefined
      ? { path, role: 'owned' }
      : { path, role: 'owned', startLine, endLine }
  })
  const context = contextFiles.map(({ path }): Wanted => ({ path, role: 'context' }))
  return [...owned, ...context, ...tests.map(({ path }): Wanted => ({ path, role: 'test' }))]
}

/** Lines from `startLine` on, as many whole ones as fit into `maxBytes` bytes. */
function takeLines(
  lines: readonly string[],
  { startLine, endLine }: Lines,
  maxBytes: number,
): { end: number; bytes: number } {
  let bytes = 0
  let end = startLine - 1
  while (end < endLine) {
    const next = Buffer.byteLength(lines[end] ?? '') + 1
    if (bytes + next > maxBytes) break
    bytes += next
    end += 1
  }
  return { end, bytes }
}

function includeFile(wanted: Wanted, content: Uint8Array | undefined, maxBytes: number): IncludedFile {
  const { path, role } = wanted
  const bytes = content?.length ?? 0
  if (content === undefined || leaveOutByBytes(content) !== undefined) {
    const none = { includedBytes: 0, includedLineRanges: [], truncated: true, readable: false }
    return { path, role, bytes, ...none, skippedReason: 'unreadable' }
  }
  const lines = splitSourceLines(decodeSource(content))
  const span = { startLine: wanted.startLine ?? 1, endLine: Math.min(wanted.endLine ?? lines.length, lines.length) }
  const { end, bytes: includedBytes } = takeLines(lines, span, maxBytes)
  const shown = lines.slice(span.startLine - 1, end)
  return {
    path,
    role,
    bytes,
    includedBytes,
    includedLineRanges: shown.length === 0 ? [] : [{ startLine: span.startLine, endLine: end }],
    excerpt: shown.map((line, at) => `${span.startLine + at}: ${line}`).join('\n'),
    truncated: end < span.endLine,
    readable: true,
    skippedReason: null,
  }
}

/** As editors count them: what follows the last line end is no line when it is empty. */
export function splitSourceLines(text: string): string[] {
  const lines = text.split(/\r\n|\n|\r/)
  if (lines.length > 1 && lines.at(-1) === '') lines.pop()
  return lines
}

/** Share of what is left that one file beside the slice's own may take. */
const maxShare = 1 / 3

class Filling {
  readonly included: IncludedFile[] = []
  readonly omitted: OmittedFile[] = []
  #left: number = contextCaps.bytes

  add(wanted: Wanted, content: Uint8Array | undefined): void {
    const { path, role } = wanted
    if (!isInnerPath(path)) return void this.omitted.push({ path, role, reason: 'unsafePath' })
    if (this.included.length >= contextCaps.files) return void this.omitted.push({ path, role, reason: 'maxFiles' })
    const file = includeFile(wanted, content, role === 'owned' ? this.#left : Math.floor(this.#left * maxShare))
    if (file.readable && file.includedBytes === 0 && file.bytes > 0)
      return void this.omitted.push({ path, role, reason: 'maxBytes' })
    this.#left -= file.includedBytes
    this.included.push(file)
  }
}

/** `read`: the bytes of a file at the commit that is reviewed; undefined: there is no such file, or it is too large. */
export function buildReviewContext(slice: SliceDraft, read: (path: string) => Uint8Array | undefined): ReviewContext {
  const filling = new Filling()
  for (const wanted of listWanted(slice)) filling.add(wanted, read(wanted.path))
  const promptBytes = filling.included.reduce((sum, { excerpt = '' }) => sum + Buffer.byteLength(excerpt), 0)
  const { changedFiles, changedLineRanges } = slice
  return {
    schemaVersion: 1,
    sliceId: slice.id,
    ...(changedFiles && { changedFiles: changedFiles.slice(0, contextCaps.changedFiles) }),
    ...(changedLineRanges && { changedLineRanges: changedLineRanges.slice(0, contextCaps.changedRanges) }),
    includedFiles: filling.included,
    ...(filling.omitted.length > 0 && { omittedFiles: filling.omitted }),
    promptBytes,
    approximateTokens: Math.ceil(promptBytes / 4),
  }
}

/** `sha256:` and the hash of what was shown: a run that shows the same again need not review it again. */
export function digestReviewContext(context: ReviewContext): string {
  return `sha256:${createHash('sha256').update(JSON.stringify(context)).digest('hex')}`
}

/**
 * The excerpts as a reviewer reads them. Every file stands between two lines with a word that is made from the texts
 * themselves, so that no text can contain it and end its file early.
 */
export function renderContext(context: ReviewContext): string {
  const fence = digestReviewContext(context).slice(-24)
  const files = context.includedFiles.map(({ path, role, excerpt, truncated, readable }) => {
    const notes = [role, ...(truncated ? ['cut'] : []), ...(readable ? [] : ['unreadable'])].join(', ')
    return [`----- ${fence} file ${JSON.stringify(path)} (${notes})`, excerpt ?? '', `----- ${fence} end`].join('\n')
  })
  const omitted = (context.omittedFiles ?? []).map(({ path, reason }) => `${JSON.stringify(path)} (${reason})`)
  return [...files, ...(omitted.length > 0 ? [`Not shown: ${omitted.join(', ')}`] : [])].join('\n')
}
