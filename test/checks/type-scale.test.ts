// The dashboard has three sizes of text: of the page (24), of its parts (16), of everything else (13, which is 1rem). Code is a little smaller.
import { expect, it } from 'vitest'
import { listFiles, readSource } from './source-tree.ts'

const sizes = ['24px', '16px', '1rem', '1em', '0.92em']
/** Pages whose figures are larger than text. */
const others = /^dashboard\/src\/views\/(?:overview|task)\//

it('is one of three sizes', () => {
  const sheets = listFiles('dashboard/src', ['.css']).filter((path) => !others.test(path))
  const found = sheets.flatMap((path) =>
    [...readSource(path).matchAll(/font-size: ([^;]+);/g)].map(([, size = '']) => ({ path, size })),
  )
  expect(found.length).toBeGreaterThan(20)
  expect(found.filter(({ size }) => !sizes.includes(size))).toEqual([])
})
