// Threads for work of which nobody knows whether it ends: each does one request at a time, and one whose time is up is ended
// with what it does. They are started by need, used again, and ended when there is nothing to do.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { abortable, followSignals } from './abort.ts'
import { hasCode } from './error-code.ts'
import { createFairSemaphore, type FairSemaphore } from './fair-semaphore.ts'

/** The request took longer, or more memory, than it may. */
export class ThreadLimitError extends Error {}

class ThreadEndedError extends Error {}

export type ThreadLimits = {
  /** At once; others wait, and holders take turns. */
  threads: number
  /** For one request, without its wait and the start of a thread. */
  timeoutMs: number
  /** Of each thread. */
  memoryMegabytes: number
}

/** After which an unused thread ends. */
const idleMs = 10_000

type Idle = { thread: Worker; timer: NodeJS.Timeout }

export class ThreadPool<Request, Answer> {
  readonly #module: string
  readonly #limits: ThreadLimits
  readonly #permits: FairSemaphore
  readonly #idle: Idle[] = []

  /** The module calls `answerInThread`. */
  constructor(module: string, limits: ThreadLimits) {
    this.#module = module
    this.#limits = limits
    this.#permits = createFairSemaphore(limits.threads)
  }

  /** Rejects with ThreadLimitError, with what the module throws, or when the signal aborts. */
  async ask(request: Request, { holder, signal }: { holder: string; signal: AbortSignal }): Promise<Answer> {
    await this.#permits.acquire(holder, signal)
    try {
      const idle = this.#takeIdle()
      if (idle === undefined) return await this.#askNew(request, signal)
      // One that ends by itself meanwhile has not been asked.
      return await this.#answer(idle, request, signal).catch((error: unknown) => {
        if (error instanceof ThreadEndedError) return this.#askNew(request, signal)
        throw error
      })
    } finally {
      this.#permits.release(holder)
    }
  }

  async #askNew(request: Request, signal: AbortSignal): Promise<Answer> {
    return await this.#answer(await this.#start(signal), request, signal)
  }

  #takeIdle(): Worker | undefined {
    const idle = this.#idle.pop()
    clearTimeout(idle?.timer)
    idle?.thread.ref()
    return idle?.thread
  }

  async #start(signal: AbortSignal): Promise<Worker> {
    const thread = new Worker(new URL(this.#module), {
      workerData: { module: this.#module },
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: this.#limits.memoryMegabytes },
    })
    // Whoever waits for it hears of it; an error that nobody waits for would end the process.
    thread.on('error', () => undefined)
    thread.once('exit', () => {
      this.#drop(thread)
      thread.emit('error', new ThreadEndedError('its thread has ended'))
    })
    await receive(thread, signal)
    return thread
  }

  async #answer(thread: Worker, request: Request, signal: AbortSignal): Promise<Answer> {
    const { timeoutMs, memoryMegabytes } = this.#limits
    const end = followSignals(signal)
    const late = () => end.abort(new ThreadLimitError(`it takes longer than ${timeoutMs / 1000} s`))
    const timer = setTimeout(late, timeoutMs)
    const full = () => end.abort(new ThreadLimitError(`it takes more than ${memoryMegabytes} MiB of memory`))
    const watch = watchHeap(thread, memoryMegabytes, full)
    thread.postMessage(request)
    try {
      const answer = await receive<Answer>(thread, end.signal)
      this.#keep(thread)
      return answer
    } catch (error) {
      if (!isOutOfMemory(error)) throw error
      throw new ThreadLimitError(`it takes more than ${memoryMegabytes} MiB of memory`)
    } finally {
      clearTimeout(timer)
      clearInterval(watch)
      end.release()
    }
  }

  #keep(thread: Worker): void {
    // The end of a thread may be told together with its last answer; it has no number then.
    if (thread.threadId === -1) return
    const end = () => {
      this.#drop(thread)
      void thread.terminate()
    }
    thread.unref()
    this.#idle.push({ thread, timer: setTimeout(end, idleMs).unref() })
  }

  #drop(thread: Worker): void {
    const at = this.#idle.findIndex((idle) => idle.thread === thread)
    if (at !== -1) clearTimeout(this.#idle.splice(at, 1)[0]?.timer)
  }
}

const isOutOfMemory = (error: unknown) => hasCode(error, 'ERR_WORKER_OUT_OF_MEMORY')

const lookEveryMs = 20

/** A process with `--max-old-space-size` gives its threads that limit, whatever theirs is (nodejs/node#43991). */
function watchHeap(thread: Worker, megabytes: number, full: () => void): NodeJS.Timeout {
  const look = async () => {
    // Of a thread that has ended there are none.
    const heap = await thread.getHeapStatistics().catch(() => undefined)
    if (heap !== undefined && heap.used_heap_size > megabytes * 1024 ** 2) full()
  }
  return setInterval(() => void look(), lookEveryMs)
}

/** A thread of which no message comes is ended. */
async function receive<T>(thread: Worker, signal: AbortSignal): Promise<T> {
  try {
    const [message] = await abortable(once(thread, 'message'), signal)
    return message
  } catch (error) {
    await thread.terminate()
    throw error
  }
}
