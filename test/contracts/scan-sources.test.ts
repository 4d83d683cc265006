// Files as findings are checked against them: what is declared around a line is read by a parser.
import { expect, it } from 'vitest'
import { readSources } from '../../src/controllers/scans/trees.ts'
import { createOutlines } from '../../src/git/outlines.ts'
import type { SourceTree } from '../../src/ports/scans/source-trees.ts'

const text = 'class Shop {\n  pay = async (sum: number) => {\n    return run(sum)\n  }\n}\n'
const tree: SourceTree = {
  list: async () => [],
  readEach: async (paths, take) => {
    for (const path of paths) take(path, path === 'gone.ts' ? undefined : Buffer.from(text))
  },
  changesSince: async () => undefined,
  close: async () => undefined,
}
const { signal } = new AbortController()

it('names the declarations around a line as the language has them', async () => {
  const read = readSources({ outlines: createOutlines(), log: silent([]), signal }, tree, new Map())
  expect((await read('shop.ts'))?.symbolAt(3)).toBe('Shop.pay')
  expect(await read('gone.ts')).toBeUndefined()
})

it('guesses them by the lines when the text is more than the parser survives', async () => {
  const warnings: string[] = []
  const outlines = { read: () => Promise.reject(new Error('memory access out of bounds')) }
  const read = readSources({ outlines, log: silent(warnings), signal }, tree, new Map())
  expect((await read('shop.ts'))?.symbolAt(3)).toBe('Shop')
  expect(warnings).toEqual([expect.stringContaining('cannot be parsed')])
})

function silent(warnings: string[]) {
  const none = () => undefined
  return {
    debug: none,
    info: none,
    error: none,
    warn: (_: object, message?: string) => void warnings.push(message ?? ''),
  }
}
