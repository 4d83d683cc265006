// Receives a body for any destination: small ones are kept for their row, larger ones are streamed to the body store.
import type { Readable } from 'node:stream'
import { isSvcError, SvcError } from '../../errors.ts'
import type { BlobLimits, BlobReference, StoredBlob } from './blobs.ts'
import { toStorageError } from './storage-errors.ts'

// SQLite reads blobs of this size faster than a file system does (https://sqlite.org/fasterthanfs.html), and a row
// costs one sync where a file costs three.
const INLINE_BYTES = 16 * 1024

/** The destination of larger bodies. */
export type BodySink = {
  write(id: string, chunks: AsyncIterable<Buffer>): Promise<void>
  /** Removes what was written of it. */
  discard(id: string): Promise<void>
}

export type BodyRequest<T> = { body: Readable; limits: BlobLimits; commit: (blob: StoredBlob) => Promise<T> }

async function* readChunks(body: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false })) {
      yield typeof chunk === 'string' ? Buffer.from(chunk) : (chunk as Buffer)
    }
  } catch (cause) {
    if (isSvcError(cause)) throw cause
    throw new SvcError('ClientClosed', 'the body broke off before its end: send it again', { cause })
  }
}

async function* prepend(head: Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* head
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value
}

async function* countChunks(chunks: AsyncIterable<Buffer>, limits: BlobLimits, counted: { size: number }) {
  for await (const chunk of chunks) {
    counted.size += chunk.length
    if (counted.size > limits.limit) throw new SvcError('TooLarge', limits.tooLarge)
    yield chunk
  }
}

async function receiveBody(sink: BodySink, id: string, chunks: AsyncIterator<Buffer>): Promise<BlobReference> {
  const head: Buffer[] = []
  let size = 0
  while (size <= INLINE_BYTES) {
    const next = await chunks.next()
    if (next.done === true) return { blob_id: null, content: Buffer.concat(head) }
    head.push(next.value)
    size += next.value.length
  }
  await sink.write(id, prepend(head, chunks))
  return { blob_id: id, content: null }
}

/** `Blobs.store` over a sink, under a fresh id. */
export async function storeBody<T>(sink: BodySink, id: string, request: BodyRequest<T>): Promise<T> {
  const counted = { size: 0 }
  const chunks = countChunks(readChunks(request.body), request.limits, counted)
  try {
    const reference = await receiveBody(sink, id, chunks)
    const { empty } = request.limits
    if (counted.size === 0 && empty !== undefined) throw new SvcError('InvalidRequest', empty)
    return await request.commit({ ...reference, size: counted.size })
  } catch (error) {
    await chunks.return(undefined)
    await sink.discard(id)
    throw toStorageError(error)
  }
}
