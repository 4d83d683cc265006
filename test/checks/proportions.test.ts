// The proportions of the house: sizes of files and functions, and what a file may be called.
import { basename } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'
import { describe, expect, it } from 'vitest'
import { listFiles, readSource } from './source-tree.ts'

const isTest = (path: string) => path.endsWith('.test.ts') || path.startsWith('test/')
const files = ['src', 'dashboard', 'bench', 'scripts', 'test'].flatMap((folder) => listFiles(folder, ['.ts', '.tsx']))
const sources = files.filter((path) => !isTest(path))

function countLines(path: string): number {
  return readSource(path).trimEnd().split('\n').length
}
function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

describe('files', () => {
  it('are at most 500 lines, tests 800', () => {
    const long = files.filter((path) => countLines(path) > (isTest(path) ? 800 : 500))
    expect(long).toEqual([])
  })

  it('have a median of at most 150 lines and a 95th percentile under 350', () => {
    const lengths = sources.map(countLines)
    expect(percentile(lengths, 0.5)).toBeLessThanOrEqual(150)
    expect(percentile(lengths, 0.95)).toBeLessThan(350)
  })

  it('are named by a noun of the domain', () => {
    const vague = sources.filter((path) => /^(utils?|helpers?|common|misc|shared)\b/.test(basename(path)))
    expect(vague).toEqual([])
  })

  it('keep the three programs under 40 lines', () => {
    for (const program of ['src/server.ts', 'src/worker.ts', 'src/cli.ts']) expect(countLines(program)).toBeLessThan(40)
  })
})

type Spanned = { start: number; end: number; body?: unknown }

/**
 * Lines of every function with a block body, with where it stands. A function within it counts by itself: what is read
 * as one thing is the rest.
 */
function measureFunctions(path: string): { where: string; lines: number }[] {
  const text = readSource(path)
  const found: { where: string; lines: number }[] = []
  const lineOf = (offset: number) => text.slice(0, offset).split('\n').length
  /** Lines of the functions within each one that is open now. */
  const open: number[] = []
  const enter = (node: Spanned) => void (node.body && open.push(0))
  const leave = (node: Spanned) => {
    if (!node.body) return
    const first = lineOf(node.start)
    const all = lineOf(node.end) - first + 1
    found.push({ where: `${path}:${first}`, lines: all - (open.pop() ?? 0) })
    // The line that begins it belongs to the one around it as well.
    if (open.length > 0) open.push((open.pop() ?? 0) + all - 1)
  }
  type Arrow = Spanned & { body: { type: string } }
  const isBlock = (node: Arrow) => node.body.type === 'BlockStatement'
  const visitor = new Visitor({
    FunctionDeclaration: enter,
    'FunctionDeclaration:exit': leave,
    FunctionExpression: enter,
    'FunctionExpression:exit': leave,
    ArrowFunctionExpression: (node) => isBlock(node) && enter(node),
    'ArrowFunctionExpression:exit': (node) => isBlock(node) && leave(node),
  })
  visitor.visit(parseSync(path, text).program)
  return found
}

/** Objects spread into the literal they stand in: nothing but a line saved. */
function findSavedLines(path: string): string[] {
  const text = readSource(path)
  const found: string[] = []
  const visitor = new Visitor({
    ObjectExpression: ({ properties }) => {
      const saved = properties.filter(
        (part) => part.type === 'SpreadElement' && part.argument.type === 'ObjectExpression',
      )
      found.push(...saved.map(({ start }) => `${path}:${text.slice(0, start).split('\n').length}`))
    },
  })
  visitor.visit(parseSync(path, text).program)
  return found
}

describe('functions', () => {
  const functions = sources.flatMap(measureFunctions)
  const lengths = functions.map((entry) => entry.lines)

  it('are at most 70 lines', () => {
    expect(functions.filter((entry) => entry.lines > 70).map((entry) => `${entry.where} ${entry.lines}`)).toEqual([])
  })

  it('have a median of about 10 lines and a 95th percentile under 45', () => {
    expect(percentile(lengths, 0.5)).toBeLessThanOrEqual(12)
    expect(percentile(lengths, 0.95)).toBeLessThan(45)
  })

  it('do not spread a literal into a literal to save lines', () => {
    expect(files.flatMap(findSavedLines)).toEqual([])
  })
})
