import { expect, it } from 'vitest'
import { type NamesSetting, TreeLocations } from './tree-locations.ts'

function find(names: string[], paths: string[], more: Partial<NamesSetting> = {}): string[] {
  const places = new TreeLocations({ names, paths, ...more })
  return names.map((name) => {
    const place = places.find(name)
    return 'path' in place ? place.path : place.reason
  })
}

const absent = (name: string) => `there is no file "${name}" in the tree`

it.each([
  ['src/a.py', 'src/a.py'],
  ['./src//x/../a.py', 'src/a.py'],
  ['/runner/_work/shop/shop/src/a.py', 'src/a.py'],
  ['C:/agent/1/s/src/a.py', 'src/a.py'],
  ['https://code.example.com/ada/shop/blob/main/src/a.py', 'src/a.py'],
  ['shop/src/a.py', 'src/a.py'],
  ['../../src/a.py', 'src/a.py'],
  ['/runner/_work/shop/shop/packages/web/app.py', 'packages/web/app.py'],
  ['/mounted/app.py', 'packages/web/app.py'],
  ['web/app.py', 'packages/web/app.py'],
  ['/etc/passwd', absent('/etc/passwd')],
  ['../../etc/passwd', absent('../../etc/passwd')],
  ['src', absent('src')],
  ['/', absent('/')],
  ['', absent('')],
])('finds %s', (name, expected) => {
  expect(find([name], ['src/a.py', 'packages/web/app.py', 'packages/web/b/c.py'])).toEqual([expected])
})

it('takes the longest end that is a file', () => {
  const paths = ['app.py', 'web/app.py', 'packages/web/app.py']
  expect(find(['/ci/shop/packages/web/app.py'], paths)).toEqual(['packages/web/app.py'])
  expect(find(['app.py'], paths)).toEqual(['app.py'])
})

it('takes the folder that explains most names, though some are files elsewhere too', () => {
  const paths = ['package.json', 'web/package.json', 'web/app.js', 'web/lib/x.js', 'web/lib/y.js', 'api/app.js']
  expect(find(['package.json', 'app.js', 'lib/x.js', 'lib/y.js'], paths)).toEqual(
    ['package.json', 'app.js', 'lib/x.js', 'lib/y.js'].map((name) => `web/${name}`),
  )
})

it('takes names for those of the folder in which the scanner ran, or of one below it', () => {
  const paths = ['package.json', 'web/package.json', 'web/app.js', 'web/lib/x.js', 'web/lib/y.js']
  const names = ['package.json', 'app.js', 'lib/x.js', 'lib/y.js']
  for (const root of ['/home/ada/shop', '/home/ada/shop/web', 'file:///home/ada/shop/web/'])
    expect(find(names, paths, { root })).toEqual(names.map((name) => `web/${name}`))
  expect(find(['package.json'], paths, { root: '/home/ada/shop' })).toEqual(['package.json'])
  expect(find(['../package.json'], paths, { root: '/home/ada/shop/web' })).toEqual(['package.json'])
})

it('takes no file elsewhere for one that is gone', () => {
  const names = ['/ci/shop/src/a.py', '/ci/shop/src/b.py', '/ci/shop/src/index.py']
  expect(find(names, ['src/a.py', 'src/b.py', 'index.py'])).toEqual(['src/a.py', 'src/b.py', absent(names[2] ?? '')])
})

it('says which files a name may be of, and is told by the folder that a person names', () => {
  const paths = ['packages/web/app.py', 'packages/api/app.py']
  const [reason] = find(['/mounted/app.py'], paths)
  expect(reason).toBe(
    '"/mounted/app.py" may be packages/web/app.py or packages/api/app.py: name the folder in which the scanner ran with --root',
  )
  expect(find(['/mounted/app.py'], paths, { root: '/home/ada/shop/packages/api' })).toEqual(['packages/api/app.py'])
})

it('prefers the folder that the scan is of, and the root that the scanner names', () => {
  expect(find(['app.py'], ['web/app.py', 'api/app.py'], { folder: 'api' })).toEqual(['api/app.py'])
  const paths = ['shop/app.py', 'app.py']
  expect(find(['/ci/shop/app.py'], paths)).toEqual(['shop/app.py'])
  expect(find(['/ci/shop/app.py'], paths, { knownRoots: ['/ci/shop/'] })).toEqual(['app.py'])
})
