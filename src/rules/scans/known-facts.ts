// Facts of files that were read before: an incremental run reads only what is new. The same content at the same path has the
// same facts, for as long as they are read in the same way.
import { createHash } from 'node:crypto'
import { factsVersion } from './facts-version.ts'
import type { FileFacts } from './file-facts.ts'
import type { LeftOutReason } from './left-out.ts'

/** A file that was read, or why it is left out. */
export type ReadFacts = FileFacts | LeftOutReason
/** By path; `id`: of the content. */
export type KnownFacts = ReadonlyMap<string, Known>
type Known = { id: string; facts: ReadFacts }

/** Of the version and of every byte: damaged, cut or old facts count as none. */
function headOf(body: Uint8Array): string {
  return `svc-facts ${factsVersion} ${createHash('sha256').update(body).digest('hex')}\n`
}

export function encodeFacts(facts: KnownFacts): Buffer {
  const body = Buffer.from(JSON.stringify([...facts]))
  return Buffer.concat([Buffer.from(headOf(body)), body])
}

export function decodeFacts(bytes: Buffer | undefined): KnownFacts {
  const end = bytes?.indexOf(10) ?? -1
  if (bytes === undefined || end < 0) return new Map()
  const body = bytes.subarray(end + 1)
  const isWhole = bytes.subarray(0, end + 1).toString('latin1') === headOf(body)
  return isWhole ? new Map(JSON.parse(body.toString()) as Iterable<[string, Known]>) : new Map()
}
