import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeFacts, encodeFacts, type KnownFacts, startReading } from './tree-reading.ts'

type Tree = Record<string, string>

const entriesOf = (tree: Tree) =>
  Object.entries(tree).map(([path, text]) => ({ path, bytes: text.length, kind: 'file' as const, id: `id of ${text}` }))

function read(tree: Tree, known?: KnownFacts) {
  const reading = startReading(entriesOf(tree), '', known)
  for (const path of reading.wanted) reading.take(path, Buffer.from(tree[path] ?? ''))
  return reading
}

const paths = ['app/a.py', 'app/b.py', 'web/c.ts', 'web/package.json', 'd.go', 'e/Dockerfile', 'e/page.html']
const texts = [
  'def run(): pass\n',
  'from .b import run\n',
  "import { a } from './c'\nexport function go() {}\n",
  '{"name": "web", "scripts": {"test": "x"}}',
  'package main\nfunc main() {}\n',
  '<script>x</script>',
  '\0binary',
  '',
]
const tree = fc.dictionary(fc.constantFrom(...paths), fc.constantFrom(...texts))

/** Flips a bit, cuts, or leaves it as it is. */
function damage(bytes: Buffer, how: 'none' | 'flip' | 'cut', at: number): Buffer {
  const place = at % bytes.length
  if (how === 'cut') return bytes.subarray(0, place)
  if (how === 'flip') bytes.writeUInt8(bytes.readUInt8(place) ^ 1, place)
  return bytes
}

describe('facts of files that were read before', () => {
  it('give the same slices as reading everything, whatever they are of and however they are damaged', () => {
    const how = fc.constantFrom('none' as const, 'flip' as const, 'cut' as const)
    fc.assert(
      fc.property(tree, tree, how, fc.nat(), (before, now, kind, at) => {
        const known = decodeFacts(damage(encodeFacts(read(before).learnt()), kind, at))
        if (kind !== 'none') expect(known.size).toBe(0)
        const reading = read(now, known)
        expect(reading.cut('shop')).toEqual(read(now).cut('shop'))
        expect(decodeFacts(encodeFacts(reading.learnt()))).toEqual(read(now).learnt())
      }),
      { numRuns: 200 },
    )
  })

  it('leave only what is new or changed to be read', () => {
    const before = { 'a.py': 'x = 1\n', 'b.py': 'y = 1\n', 'c.bin.py': '\0' }
    const known = decodeFacts(encodeFacts(read(before).learnt()))
    const now = { ...before, 'b.py': 'y = 2\n', 'd.py': 'x = 1\n' }
    expect(startReading(entriesOf(now), '', known).wanted).toEqual(['b.py', 'd.py'])
  })

  it('count for nothing when another version has read them, or there are none', () => {
    const bytes = encodeFacts(read({ 'a.py': 'x = 1\n' }).learnt())
    const other = Buffer.from(bytes.toString().replace(/^svc-facts \w+/, 'svc-facts other'))
    for (const one of [other, Buffer.from('x'), Buffer.alloc(0), undefined]) expect(decodeFacts(one).size).toBe(0)
  })
})
