// What is collected of bodies whose end nobody knows: each of them and all together are bounded. Who would exceed the sum waits, which
// holds the sender back, until others are done; when all of them wait, the largest ends.

/** More was sent than may be collected. */
export class HeldTooMuchError extends Error {}

type Waiting = { bytes: number; go(): void; refuse(error: Error): void }

export type Holding = {
  /** Counts bytes that were received. A promise: there is no room yet. HeldTooMuchError: nothing more is taken. */
  add(bytes: number): void | Promise<void>
  /** Nothing of it is held any more. A wait ends. */
  release(): void
}

type Held = { bytes: number; waiting: Waiting | undefined }

type HeldBytesLimits = {
  /** Bytes of one body. */
  each: number
  /** Bytes of all together. */
  all: number
}

const inMebibytes = (bytes: number) => `${Math.round(bytes / 1024 ** 2)} MiB`

export class HeldBytes {
  readonly #limits: HeldBytesLimits
  readonly #open = new Set<Held>()
  #sum = 0

  constructor(limits: HeldBytesLimits) {
    this.#limits = limits
  }

  /** Bytes of all that are open. */
  get bytes(): number {
    return this.#sum
  }

  open(): Holding {
    const held: Held = { bytes: 0, waiting: undefined }
    this.#open.add(held)
    return { add: (bytes) => this.#add(held, bytes), release: () => this.#release(held) }
  }

  #add(held: Held, bytes: number): void | Promise<void> {
    const { each } = this.#limits
    if (held.bytes + bytes > each) throw new HeldTooMuchError(`it sent more than ${inMebibytes(each)}`)
    if (this.#fits(bytes)) return this.#take(held, bytes)
    return new Promise((resolve, reject) => {
      held.waiting = { bytes, go: resolve, refuse: reject }
      this.#endDeadlock()
    })
  }

  #fits(bytes: number): boolean {
    return this.#sum + bytes <= this.#limits.all
  }

  #take(held: Held, bytes: number): void {
    held.bytes += bytes
    this.#sum += bytes
  }

  #release(held: Held): void {
    if (!this.#open.delete(held)) return
    this.#sum -= held.bytes
    held.waiting?.go()
    for (const next of this.#open) {
      if (next.waiting === undefined || !this.#fits(next.waiting.bytes)) continue
      const { bytes, go } = next.waiting
      next.waiting = undefined
      this.#take(next, bytes)
      go()
    }
    this.#endDeadlock()
  }

  /** Nobody who holds something goes on by itself: the largest is refused, and its release makes room. */
  #endDeadlock(): void {
    const holders = [...this.#open].filter(({ bytes, waiting }) => bytes > 0 || waiting !== undefined)
    if (holders.length === 0 || holders.some(({ waiting }) => waiting === undefined)) return
    const largest = holders.reduce((most, next) => (next.bytes > most.bytes ? next : most))
    const { waiting } = largest
    largest.waiting = undefined
    const all = inMebibytes(this.#limits.all)
    waiting?.refuse(new HeldTooMuchError(`it was the largest of those that together exceed ${all}; try again`))
  }
}
