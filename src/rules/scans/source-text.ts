// A file as findings are checked against it: its lines, and which declaration is around each of them.
import type { SourceText } from './finding-evidence.ts'
import { decodeSource } from './left-out.ts'
import { splitLines } from './review-context.ts'

/** A function, method or type that a file declares; both lines included, from 1. */
export type Declaration = { name: string; startLine: number; endLine: number }

const declaring =
  /^\s*(?:export\s+|default\s+|public\s+|private\s+|protected\s+|static\s+|async\s+|pub\s+)*(?:function\*?|def|func|fn|class|interface|trait|impl|struct|module|sub)\s+(?:\([^)]{0,120}\)\s*)?([\w$.:]{1,120})/

const indentOf = (line: string) => line.length - line.trimStart().length

/** By indentation and the usual words, of a language that nothing else is known of. */
function guessSymbol(lines: readonly string[], line: number): string | undefined {
  let indent = indentOf(lines[line - 1] ?? '') + 1
  for (let at = line - 1; at >= 0; at -= 1) {
    const text = lines[at] ?? ''
    if (text.trim() === '' || indentOf(text) >= indent) continue
    const name = declaring.exec(text)?.[1]
    if (name !== undefined) return name
    indent = Math.max(1, indentOf(text))
  }
  return undefined
}

/** `declarations` absent: the language has no parser here. */
export function makeSourceText(content: Uint8Array, declarations?: readonly Declaration[]): SourceText {
  const lines = splitLines(decodeSource(content))
  const isAround = (line: number) => (one: Declaration) => line >= one.startLine && line <= one.endLine
  return {
    lines,
    symbolAt(line) {
      if (declarations === undefined) return guessSymbol(lines, line)
      const around = declarations.filter(isAround(line))
      return around.length === 0
        ? undefined
        : around
            .map(({ name }) => name)
            .join('.')
            .slice(0, 256)
    },
  }
}
