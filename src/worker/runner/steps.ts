// Whose step began last in a process that many attempts share: noted where whatever ends the process cannot take it along.
import { openSync, writeSync } from 'node:fs'
import { stepFile } from '../../contract/api/tasks/runners.ts'
import type { Egress, PipeSink } from '../../ports/service/egress.ts'
import type { WorkerDeps } from '../deps.ts'

export class StepRecord {
  readonly #file: number
  #last = ''

  /** Takes its room at once, so that a full disk cannot keep a name out. */
  constructor(path: string) {
    this.#file = openSync(path, 'w+', 0o600)
    writeSync(this.#file, ' '.repeat(stepFile.length), 0)
  }

  get last(): string {
    return this.#last
  }

  begin(name: string): void {
    if (name === this.#last) return
    this.#last = name
    writeSync(this.#file, name.padEnd(stepFile.length), 0)
  }
}

/** The same, but `begin` is called whenever something arrives that the attempt goes on with. */
export function noteSteps<D extends Pick<WorkerDeps, 'egress' | 'clock' | 'fetch'>>(deps: D, begin: () => void): D {
  const { clock, egress, fetch } = deps
  const arrived = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } finally {
      begin()
    }
  }
  const note = (doFetch: typeof globalThis.fetch): typeof globalThis.fetch => {
    return (input, init) => arrived(doFetch(input, init))
  }
  return {
    ...deps,
    ...(fetch && { fetch: note(fetch) }),
    clock: { ...clock, sleep: (ms, signal) => arrived(clock.sleep(ms, signal)) },
    egress: {
      openPipe: async (url, policy) => {
        const pipe = await egress.openPipe(url, policy)
        return { send: (request, sink) => pipe.send(request, noteSink(sink, begin)) }
      },
      request: (request, signal) => arrived(egress.request(request, signal)),
      fetchWith: (policy) => note(egress.fetchWith(policy)),
      close: () => egress.close(),
    } satisfies Egress,
  }
}

function noteSink(sink: PipeSink, begin: () => void): PipeSink {
  return {
    head(status, headers) {
      begin()
      sink.head(status, headers)
    },
    data(chunk) {
      begin()
      return sink.data(chunk)
    },
    end() {
      begin()
      sink.end()
    },
    fail(error, retry) {
      begin()
      sink.fail(error, retry)
    },
  }
}
