// The blocks of a Markdown text: what models and people write, not all of CommonMark. What is no block is a paragraph.
import { startsBlock, tableAt } from './block-starts.ts'

export type Block =
  | { type: 'paragraph'; text: string }
  | { type: 'heading'; level: number; text: string }
  | { type: 'code'; language: string; text: string }
  | { type: 'list'; isOrdered: boolean; start: number; items: Block[][] }
  | { type: 'quote'; blocks: Block[] }
  | { type: 'table'; head: string[]; rows: string[][] }
  | { type: 'rule' }

type Reader = { lines: readonly string[]; at: number; depth: number }

/** Lists and quotes within each other; what lies deeper is a paragraph. */
const mostDepth = 8

export function parseBlocks(text: string): Block[] {
  return readBlocks(text.split('\n'), 0)
}

function readBlocks(lines: readonly string[], depth: number): Block[] {
  const reader: Reader = { lines, at: 0, depth }
  const blocks: Block[] = []
  while (reader.at < lines.length) {
    if (lineOf(reader).trim() === '') reader.at += 1
    else blocks.push(readBlock(reader))
  }
  return blocks
}

function lineOf({ lines, at }: Reader): string {
  return lines[at] ?? ''
}

function readBlock(reader: Reader): Block {
  const nested = reader.depth < mostDepth ? (readQuote(reader) ?? readList(reader)) : undefined
  return (
    readFence(reader) ?? readHeading(reader) ?? readRule(reader) ?? nested ?? readTable(reader) ?? readParagraph(reader)
  )
}

const fence = /^ {0,3}(`{3,}|~{3,})[ \t]*([\w+#.-]*)/

/** One that is not closed goes to the end: its rest may still come. */
function readFence(reader: Reader): Block | undefined {
  const [, marks = '', language = ''] = fence.exec(lineOf(reader)) ?? []
  if (marks === '') return undefined
  const isEnd = (line: string) => line.trim().startsWith(marks) && line.trim().replaceAll(marks.charAt(0), '') === ''
  const lines: string[] = []
  for (reader.at += 1; reader.at < reader.lines.length && !isEnd(lineOf(reader)); reader.at += 1)
    lines.push(lineOf(reader))
  reader.at += 1
  return { type: 'code', language, text: lines.join('\n') }
}

function readHeading(reader: Reader): Block | undefined {
  const [, marks = '', text = ''] = /^ {0,3}(#{1,6})[ \t]([\s\S]*)$/.exec(lineOf(reader)) ?? []
  if (marks === '') return undefined
  reader.at += 1
  return { type: 'heading', level: marks.length, text: text.trim() }
}

function readRule(reader: Reader): Block | undefined {
  const marks = lineOf(reader).replaceAll(/[ \t]/g, '')
  if (!/^(-{3,}|\*{3,}|_{3,})$/.test(marks)) return undefined
  reader.at += 1
  return { type: 'rule' }
}

function readQuote(reader: Reader): Block | undefined {
  const lines: string[] = []
  for (; /^ {0,3}>/.test(lineOf(reader)); reader.at += 1) lines.push(lineOf(reader).replace(/^ {0,3}> ?/, ''))
  return lines.length === 0 ? undefined : { type: 'quote', blocks: readBlocks(lines, reader.depth + 1) }
}

const marker = /^( {0,12})([-*+]|(\d{1,9})[.)])(?:[ \t]+([^ \t][\s\S]*)?)?$/

type Item = { indent: number; isOrdered: boolean; start: number; text: string; width: number }

function itemAt(line: string): Item | undefined {
  const found = marker.exec(line)
  if (found === null) return undefined
  const [, before = '', mark = '', digits, text = ''] = found
  const indent = before.length
  return { indent, isOrdered: digits !== undefined, start: Number(digits ?? 1), text, width: indent + mark.length + 1 }
}

/** Whether the line begins an item of the same list. */
function isSibling(item: Item | undefined, first: Item): boolean {
  return item !== undefined && item.isOrdered === first.isOrdered && item.indent <= first.indent + 1
}

function readList(reader: Reader): Block | undefined {
  const first = itemAt(lineOf(reader))
  if (first === undefined) return undefined
  const items: Block[][] = []
  for (let item: Item | undefined = first; isSibling(item, first); item = itemAt(lineOf(reader))) {
    items.push(readItem(reader, item as Item))
  }
  return { type: 'list', isOrdered: first.isOrdered, start: first.start, items }
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length
}

/** Its own line, and those below that are indented further or go on with its paragraph. */
function readItem(reader: Reader, item: Item): Block[] {
  const lines = [item.text]
  for (reader.at += 1; reader.at < reader.lines.length; reader.at += 1) {
    const line = lineOf(reader)
    const isBlank = line.trim() === ''
    if (isBlank && indentOf(reader.lines[reader.at + 1] ?? '') <= item.indent) break
    const isInside = isBlank || indentOf(line) > item.indent
    if (!isInside && (startsBlock(line) || lines.at(-1) === '')) break
    lines.push(line.slice(Math.min(item.width, indentOf(line))))
  }
  skipBlankBeforeItem(reader)
  return readBlocks(lines, reader.depth + 1)
}

/** Blank lines between items do not end a list. */
function skipBlankBeforeItem(reader: Reader): void {
  let next = reader.at
  while (next < reader.lines.length && reader.lines[next]?.trim() === '') next += 1
  if (itemAt(reader.lines[next] ?? '') !== undefined) reader.at = next
}

function readTable(reader: Reader): Block | undefined {
  const table = tableAt(reader.lines, reader.at)
  if (table === undefined) return undefined
  reader.at = table.end
  return { type: 'table', head: table.head, rows: table.rows }
}

function readParagraph(reader: Reader): Block {
  const lines = [lineOf(reader)]
  for (reader.at += 1; reader.at < reader.lines.length; reader.at += 1) {
    const line = lineOf(reader)
    if (line.trim() === '' || startsBlock(line) || tableAt(reader.lines, reader.at) !== undefined) break
    lines.push(line)
  }
  return { type: 'paragraph', text: lines.join('\n').trim() }
}
