// What is collected of bodies whose end nobody knows: each of them and all together are bounded. Who would exceed the sum waits, which
// holds the sender back, until others are done; when all of them wait, the largest ends.
import { getHeapStatistics } from 'node:v8'

/** More was sent than may be collected. */
export class BufferQuotaError extends Error {}

/** One alone was larger than any may be: sent again, it would be too. */
export class OversizedError extends BufferQuotaError {}

type Waiting = { bytes: number; go(): void; refuse(error: Error): void }

export type CountedBuffer = {
  /** Counts bytes that were received. A promise: there is no room yet. BufferQuotaError: nothing more is taken. */
  add(bytes: number): void | Promise<void>
  /** Nothing of it is held any more. A wait ends. */
  release(): void
}

type Buffered = { bytes: number; waiting: Waiting | undefined }

type BufferQuotaLimits = {
  /** Bytes of one body. */
  each: number
  /** Bytes of all together. */
  all: number
}

const inMebibytes = (bytes: number) => `${Math.round(bytes / 1024 ** 2)} MiB`

export class BufferQuota {
  readonly #limits: BufferQuotaLimits
  readonly #open = new Set<Buffered>()
  #sum = 0

  constructor(limits: BufferQuotaLimits) {
    this.#limits = limits
  }

  /** Bytes of all that are open. */
  get bytes(): number {
    return this.#sum
  }

  open(): CountedBuffer {
    const buffer: Buffered = { bytes: 0, waiting: undefined }
    this.#open.add(buffer)
    return { add: (bytes) => this.#add(buffer, bytes), release: () => this.#release(buffer) }
  }

  #add(buffer: Buffered, bytes: number): void | Promise<void> {
    const { each } = this.#limits
    if (buffer.bytes + bytes > each) throw new OversizedError(`it sent more than ${inMebibytes(each)}`)
    if (this.#fits(bytes)) return this.#take(buffer, bytes)
    return new Promise((resolve, reject) => {
      buffer.waiting = { bytes, go: resolve, refuse: reject }
      this.#endDeadlock()
    })
  }

  #fits(bytes: number): boolean {
    return this.#sum + bytes <= this.#limits.all
  }

  #take(buffer: Buffered, bytes: number): void {
    buffer.bytes += bytes
    this.#sum += bytes
  }

  #release(buffer: Buffered): void {
    if (!this.#open.delete(buffer)) return
    this.#sum -= buffer.bytes
    buffer.waiting?.go()
    for (const next of this.#open) {
      if (next.waiting === undefined || !this.#fits(next.waiting.bytes)) continue
      const { bytes, go } = next.waiting
      next.waiting = undefined
      this.#take(next, bytes)
      go()
    }
    this.#endDeadlock()
  }

  /** When nobody who holds something goes on by itself, the largest is refused, and its release makes room. */
  #endDeadlock(): void {
    const holders = [...this.#open].filter(({ bytes, waiting }) => bytes > 0 || waiting !== undefined)
    if (holders.length === 0 || holders.some(({ waiting }) => waiting === undefined)) return
    const max = holders.reduce((max, next) => (next.bytes > max.bytes ? next : max))
    const { waiting } = max
    max.waiting = undefined
    const all = inMebibytes(this.#limits.all)
    waiting?.refuse(new BufferQuotaError(`it was the largest of those that together exceed ${all}; try again`))
  }
}

/**
 * Of everything that others answer this process: of a model's answer 64 MiB are some 300,000 tokens, and the sum leaves most of the
 * memory to the rest.
 */
export const answerBuffers = new BufferQuota({
  each: 64 * 1024 ** 2,
  all: Math.min(256 * 1024 ** 2, getHeapStatistics().heap_size_limit / 8),
})
