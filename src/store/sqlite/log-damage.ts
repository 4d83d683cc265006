// Damage in the write-ahead log. SQLite takes a log up to its first broken frame for whole, as after a loss of power, and would
// forget in silence whatever was acknowledged after that (https://sqlite.org/walformat.html).
import { existsSync, readFileSync } from 'node:fs'

const headerBytes = 32
const frameHeaderBytes = 24
const magic = 0x377f0682
/** Each commit is synced before the next begins: only the last one may have come to the disk in parts. */
const maxUnsynced = 1

type Sum = readonly [number, number]
type ReadWord = (at: number) => number

/** The checksum of some bytes after those of `before`. */
function addUp(word: ReadWord, [from, to]: Sum, [first, second]: Sum): Sum {
  let [a, b] = [first, second]
  for (let at = from; at < to; at += 8) {
    a = (a + word(at) + b) >>> 0
    b = (b + word(at + 4) + a) >>> 0
  }
  return [a, b]
}

function createWordReader(log: Buffer): ReadWord | undefined {
  const kind = log.readUInt32BE(0)
  if (kind === magic) return (at) => log.readUInt32LE(at)
  return kind === magic + 1 ? (at) => log.readUInt32BE(at) : undefined
}

const isAt = (log: Buffer, at: number, [a, b]: Sum) => log.readUInt32BE(at) === a && log.readUInt32BE(at + 4) === b

/** Commits that begin anywhere behind: frames of earlier logs have other salts. */
function countCommits(log: Buffer, from: number, frameBytes: number): number {
  let count = 0
  for (let at = from; at + frameBytes <= log.length; at += frameBytes) {
    const isOfThisLog = log.subarray(at + 8, at + 16).equals(log.subarray(16, 24))
    if (isOfThisLog && log.readUInt32BE(at + 4) !== 0) count += 1
  }
  return count
}

/** The first byte of what is broken before the end of what was made durable. */
function findBroken(log: Buffer): number | undefined {
  if (log.length <= headerBytes || log.subarray(0, headerBytes).every((byte) => byte === 0)) return undefined
  const word = createWordReader(log)
  if (word === undefined) return 0
  let sum = addUp(word, [0, 24], [0, 0])
  if (!isAt(log, 24, sum)) return 0
  const frameBytes = frameHeaderBytes + log.readUInt32BE(8)
  for (let at = headerBytes; at + frameBytes <= log.length; at += frameBytes) {
    sum = addUp(word, [at, at + 8], sum)
    sum = addUp(word, [at + frameHeaderBytes, at + frameBytes], sum)
    if (!isAt(log, at + 16, sum)) return countCommits(log, at, frameBytes) > maxUnsynced ? at : undefined
  }
  return undefined
}

/** Where the log of the database that nobody has open is damaged, for people; undefined: it is not. */
export function findLogDamage(path: string): string | undefined {
  const file = `${path}-wal`
  const broken = existsSync(file) ? findBroken(readFileSync(file)) : undefined
  return broken === undefined ? undefined : `in its log ${file}, at byte ${broken}`
}
