// The proportions of the house as one table: `npm run house`. With --check it fails where one has grown beyond its bound.
import { parseSync } from 'oxc-parser'
import { type Import, listFiles, listImports, readSource } from '../test/checks/source-tree.ts'

/**
 * What `npm run check` holds, so that nothing grows back. Where a goal is not reached yet it stands beside the bound, which
 * follows the code down.
 */
const bounds = {
  // 126,800 before the clients, scanners, machines and neighbours of today were met, 139,850 before costs and traces; the goal is for what there was then.
  'lines of src without tests': { max: 147_310, goal: 118_000 },
  'files of src without tests': { max: 1_276 },
  'files with a single importer, in their own folder': { max: 199 },
  'biggest room, share of the code in %': { max: 12 },
  'names that several files export': { max: 0 },
  'files in circles, types included, src and dashboard': { max: 0 },
  'maps that drop their oldest entry, outside lib': { max: 0 },
  'backoffs, outside lib': { max: 0 },
  "listeners for 'abort', outside lib": { max: 0 },
} satisfies Record<string, { max: number; goal?: number }>

type Measure = keyof typeof bounds

const isTest = (path: string) => /\.test\.tsx?$/.test(path)
const listSources = (folder: string) => listFiles(folder, ['.ts', '.tsx']).filter((path) => !isTest(path))
const folderOf = (path: string) => path.slice(0, path.lastIndexOf('/'))
const roomOf = (path: string) => path.split('/').slice(0, 2).join('/')

/** The same names in two dialects of a store, or in two families of models, are the point of having both. */
const dialects = [/^src\/store\/(sqlite|postgres)\//, /^src\/llm\/(llma|llmo|responses)\//]
const familyOf = (path: string) => dialects.findIndex((pattern) => pattern.test(path))

type Exported = { name: string; path: string }

function listExports(path: string): Exported[] {
  const { module } = parseSync(path, readSource(path))
  const entries = module.staticExports.flatMap(({ entries: all }) => all)
  // A name that is passed on has one home all the same.
  const own = entries.filter(({ moduleRequest }) => !moduleRequest)
  return own.flatMap(({ exportName }) =>
    exportName.name && exportName.name !== 'default' ? [{ name: exportName.name, path }] : [],
  )
}

/** Every name that files of src export which are not dialects of one another, with these files. */
export function listTwiceExported(paths: string[]): { name: string; paths: string[] }[] {
  const byName = Map.groupBy(paths.flatMap(listExports), ({ name }) => name)
  return [...byName].flatMap(([name, all]) => {
    const homes = [...new Set(all.map(({ path }) => path))]
    const families = new Set(homes.map((path) => (familyOf(path) < 0 ? path : familyOf(path))))
    return families.size > 1 ? [{ name, paths: homes }] : []
  })
}

/** Files that only one other file imports, which lies beside them. */
export function listSingleImporter(imports: Import[], paths: string[]): string[] {
  const importers = Map.groupBy(imports, ({ to }) => to)
  return paths.filter((path) => {
    const from = new Set((importers.get(path) ?? []).map((entry) => entry.from))
    const [only] = from
    return from.size === 1 && only !== undefined && folderOf(only) === folderOf(path)
  })
}

function listReached(from: string, next: Map<string, Import[]>): Set<string> {
  const reached = new Set<string>()
  const open = [from]
  for (let path = open.pop(); path !== undefined; path = open.pop())
    for (const { to } of next.get(path) ?? []) {
      if (reached.has(to)) continue
      reached.add(to)
      open.push(to)
    }
  return reached
}

/** Files that reach themselves, by imports of types or values. */
export function listCircles(imports: Import[]): string[] {
  const next = Map.groupBy(imports, ({ from }) => from)
  return [...next.keys()].filter((path) => listReached(path, next).has(path))
}

/** The first key of a map beside a look at its size: a queue that takes the next one does not look. */
const droppedOldest =
  /\.size >=? [^\n]*\.(keys|values|entries)\(\)\.next\(\)|(\.next\(\)\.value|\] = \w+(\.(keys|values|entries)\(\))?)\n[^\n]*\.size >=? /g
/** A power of two of something that counts: a constant one is a size. */
const growingDelay = /\b2 \*\* [^\d\s]/g

const countLines = (path: string) => readSource(path).trimEnd().split('\n').length

function listMatches(paths: string[], pattern: RegExp): string[] {
  return paths.flatMap(
    (path) =>
      readSource(path)
        .match(pattern)
        ?.map(() => path) ?? [],
  )
}

/** Of each measure its value, and where to look. */
function measure(): Record<Measure, { value: number; places: string[] }> {
  const sources = listSources('src')
  const imports = [...sources, ...listSources('dashboard/src')].flatMap(listImports)
  const lines = new Map(sources.map((path) => [path, countLines(path)]))
  const sum = (paths: string[]) => paths.reduce((all, path) => all + (lines.get(path) ?? 0), 0)
  const rooms = [...Map.groupBy(sources, roomOf)].map(([room, paths]) => ({ room, share: sum(paths) / sum(sources) }))
  const biggest = rooms.toSorted((a, b) => b.share - a.share)[0] ?? { room: '', share: 0 }
  const twice = listTwiceExported(sources)
  const single = listSingleImporter(imports, sources)
  const circles = listCircles(imports)
  const elsewhere = sources.filter((path) => !path.startsWith('src/lib/'))
  const counted = (places: string[]) => ({ value: places.length, places })
  return {
    'lines of src without tests': { value: sum(sources), places: [] },
    'files of src without tests': { value: sources.length, places: [] },
    'files with a single importer, in their own folder': counted(single),
    'biggest room, share of the code in %': { value: Math.round(biggest.share * 1000) / 10, places: [biggest.room] },
    'names that several files export': counted(twice.map(({ name, paths }) => `${name}: ${paths.join(' ')}`)),
    'files in circles, types included, src and dashboard': counted(circles),
    'maps that drop their oldest entry, outside lib': counted(listMatches(elsewhere, droppedOldest)),
    'backoffs, outside lib': counted(listMatches(elsewhere, growingDelay)),
    "listeners for 'abort', outside lib": counted(listMatches(elsewhere, /addEventListener\('abort'/g)),
  }
}

type Bound = { max: number; goal?: number }
type Row = Bound & { name: string; value: number; places: string[] }

function printRow({ name, value, max, goal, places }: Row, withPlaces: boolean): void {
  const aim = goal === undefined ? '' : `; the goal is ${goal}`
  console.log(`${value > max ? '!' : ' '} ${name.padEnd(56)} ${value}  (at most ${max}${aim})`)
  if (withPlaces) for (const place of places) console.log(`      ${place}`)
}

/** With --check only what has grown is printed, and fails. */
function run(words: string[]): void {
  const found = measure()
  const rows = (Object.keys(bounds) as Measure[]).map(
    (name): Row => ({ name, ...(bounds[name] as Bound), ...found[name] }),
  )
  const isCheck = words.includes('--check')
  const shown = isCheck ? rows.filter(({ value, max }) => value > max) : rows
  for (const row of shown) printRow(row, isCheck || words.includes('--where'))
  if (isCheck && shown.length > 0) process.exitCode = 1
}

if (import.meta.main) run(process.argv.slice(2))
