// Walks trees that strangers shaped: links are not followed, any depth, names of any bytes, folders that cannot be read.
import type { Stats } from 'node:fs'
import { lstat, opendir, stat } from 'node:fs/promises'
import { hasCode } from './error-code.ts'
import { enterFolder, type Folder } from './folder-handle.ts'

export type WalkedEntry = {
  /** From the root of the walk on, each byte one character (latin1): names need not be UTF-8. */
  path: string
  name: string
  /** For calls of the system, until the next entry is asked for. */
  address: Buffer
  /** Of the entry itself; undefined for a folder that cannot be entered or listed, which comes a second time then. */
  stats: Stats | undefined
}

type Found = WalkedEntry & { stats: Stats }

/** A folder to be walked; the root has no parent. */
type Location = { path: string; name: string; depth: number; parent: Location | undefined; stats: Stats | undefined }

/** Folders that are held open on the way down; to others the way is gone again from the nearest above. */
const maxOpen = 32
/** How many entries are examined together. */
const batchSize = 64
/** Of the names that one call of the system goes down; a path may have 4,096 bytes (PATH_MAX), on some systems 1,024. */
const maxWayBytes = 768

const isGone = (error: unknown) => hasCode(error, 'ENOENT')

/** Folders from `above` down to `location`, in parts that one call can go. */
function waysTo(location: Location, above: Location): Location[][] {
  const ways: Location[][] = []
  let room = 0
  for (let at: Location | undefined = location; at !== undefined && at !== above; at = at.parent) {
    room -= at.name.length + 1
    if (room < 0) {
      ways.unshift([])
      room = maxWayBytes
    }
    ways[0]?.unshift(at)
  }
  return ways
}

/** A link on a way of several names may lead elsewhere: only the very folder that was seen in the tree is entered. */
async function enterSeen(address: Buffer, { stats }: Location): Promise<Folder> {
  const folder = await enterFolder(address)
  const found = await stat(folder.address)
  if (found.ino === stats?.ino && found.dev === stats.dev) return folder
  await folder.close()
  throw Object.assign(new Error('Another folder took its place.'), { code: 'ENOTDIR' })
}

/** Enters folders in the order of a walk that goes down first. */
function createDescent(root: string | Buffer, top: Location) {
  const open: { location: Location; folder: Folder }[] = []

  async function keep(location: Location, entering: Promise<Folder>): Promise<Folder> {
    const folder = await entering
    open.push({ location, folder })
    if (open.length > maxOpen) await open.shift()?.folder.close()
    return folder
  }

  return {
    async enter(location: Location): Promise<Folder> {
      while ((open.at(-1)?.location.depth ?? -1) >= location.depth) await open.pop()?.folder.close()
      const above = open.at(-1)
      let folder = above?.folder ?? (await keep(top, enterFolder(root)))
      for (const way of waysTo(location, above?.location ?? top)) {
        const address = folder.entry(way.map(({ name }) => name).join('/'))
        folder = await keep(way.at(-1) ?? location, enterSeen(address, way.at(-1) ?? location))
      }
      return folder
    },
    async close(): Promise<void> {
      for (const { folder } of open.splice(0)) await folder.close()
    },
  }
}

async function* listNames(folder: Folder): AsyncGenerator<string[]> {
  let names: string[] = []
  for await (const { name } of await opendir(folder.address, { bufferSize: batchSize, encoding: 'latin1' })) {
    names.push(name)
    if (names.length < batchSize) continue
    yield names
    names = []
  }
  if (names.length > 0) yield names
}

const locationBelow =
  (parent: Location) =>
  ({ path, name, stats }: Found): Location => ({ path, name, stats, depth: parent.depth + 1, parent })

/** What disappears meanwhile is passed over. */
async function* listEntries(folder: Folder, location: Location): AsyncGenerator<Found[]> {
  const above = location.path === '' ? '' : `${location.path}/`
  for await (const names of listNames(folder)) {
    const entries = await Promise.all(
      names.map(async (name) => {
        const address = folder.entry(name)
        return { path: above + name, name, address, stats: await lstat(address).catch(() => undefined) }
      }),
    )
    yield entries.filter((entry): entry is Found => entry.stats !== undefined)
  }
}

/**
 * The entries below `root`, a folder before what is in it. `enters` says whether a folder's content is of interest (default: always). A
 * folder that cannot be read, the root included (as ''), is told by an entry without `stats`, and the walk goes on.
 */
export async function* walkTree(
  root: string | Buffer,
  enters: (folder: WalkedEntry) => boolean = () => true,
): AsyncGenerator<WalkedEntry> {
  const top: Location = { path: '', name: '', depth: 0, parent: undefined, stats: undefined }
  const descent = createDescent(root, top)
  const locations = [top]
  try {
    for (let location = locations.pop(); location !== undefined; location = locations.pop()) {
      try {
        for await (const entries of listEntries(await descent.enter(location), location)) {
          yield* entries
          locations.push(
            ...entries.filter((entry) => entry.stats.isDirectory() && enters(entry)).map(locationBelow(location)),
          )
        }
      } catch (error) {
        if (!isGone(error))
          yield { path: location.path, name: location.name, address: Buffer.alloc(0), stats: undefined }
      }
    }
  } finally {
    await descent.close()
  }
}
