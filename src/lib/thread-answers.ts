// The inside of a thread of a ThreadPool.
import { isMainThread, parentPort, workerData } from 'node:worker_threads'

/**
 * Makes a module what a thread is started with: it answers each message with one. In other threads that import the module, such as
 * those of a test runner, nothing happens.
 */
export function answerInThread<Request, Answer>(
  module: string,
  answer: (request: Request) => Answer | Promise<Answer>,
) {
  if (isMainThread || workerData?.module !== module) return
  parentPort?.on('message', async (request: Request) => parentPort?.postMessage(await answer(request)))
  parentPort?.postMessage('ready')
}
