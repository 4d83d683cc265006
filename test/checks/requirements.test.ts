// Requirement ids as data: each is cited by the name of a test or marked pending, never both, never neither.
import { parseSync, Visitor } from 'oxc-parser'
import { describe, expect, it } from 'vitest'
import { pendingIds as pending, readCitations, requiredIds as required } from './requirement-rows.ts'
import { listFiles, readSource } from './source-tree.ts'

const testFiles = ['src', 'test'].flatMap((folder) => listFiles(folder, ['.test.ts', '.contract.ts']))

/** Ids in the names of `it`, `test` and `describe` calls (also `it.each(...)(name)`). */
function listCitations(path: string): string[] {
  const ids: string[] = []
  const visitor = new Visitor({
    CallExpression(call) {
      if (!/^(it|test|describe)$/.test(readCallee(call.callee))) return
      ids.push(...readCitations(readName(call.arguments[0])))
    },
  })
  visitor.visit(parseSync(path, readSource(path)).program)
  return ids
}

/** The text of a test's name: a string, or the fixed parts of a template. */
function readName(node: { type: string } | undefined): string {
  const name = node as { type: string; value?: unknown; quasis?: { value: { raw: string } }[] } | undefined
  if (name?.type === 'Literal') return String(name.value)
  return name?.quasis?.map((part) => part.value.raw).join(' ') ?? ''
}

type Callee = { type: string; name?: unknown; object?: unknown; callee?: unknown }

function readCallee(callee: unknown): string {
  const node = callee as Callee
  if (node.type === 'Identifier') return String(node.name)
  if (node.type === 'MemberExpression') return readCallee(node.object)
  if (node.type === 'CallExpression') return readCallee(node.callee)
  return ''
}

const cited = new Set(testFiles.flatMap(listCitations))

describe('requirement ids', () => {
  it('are listed once each', () => {
    expect(new Set(required).size).toBe(required.length)
  })

  it('are cited by a test or marked pending', () => {
    expect(required.filter((id) => !cited.has(id) && !pending.has(id))).toEqual([])
  })

  it('are not marked pending once a test proves them', () => {
    expect([...pending.keys()].filter((id) => cited.has(id))).toEqual([])
  })

  it('have a reason when they are marked pending', () => {
    expect([...pending].filter(([, reason]) => !reason.startsWith('pending: ')).map(([id]) => id)).toEqual([])
  })

  it('are known wherever a test or a pending mark names one', () => {
    const known = new Set(required)
    const prefixes = new Set(required.map((id) => id.split('-')[0] ?? ''))
    const named = [...cited, ...pending.keys()].filter((id) => prefixes.has(id.split('-')[0] ?? ''))
    expect(named.filter((id) => !known.has(id))).toEqual([])
  })
})
