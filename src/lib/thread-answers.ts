// The inside of a thread of a ThreadPool.
import { isMainThread, parentPort, workerData } from 'node:worker_threads'

type Answerer<Request, Answer> = (request: Request) => Answer | Promise<Answer>

/**
 * Makes a module what a thread is started with: it loads what it needs, and then answers each message with one. In other threads that
 * import the module, such as those of a test runner, nothing happens.
 */
export async function answerInThread<Request, Answer>(
  module: string,
  load: () => Promise<Answerer<Request, Answer>>,
): Promise<void> {
  if (isMainThread || workerData?.module !== module) return
  const answer = await load()
  parentPort?.on('message', async (request: Request) => parentPort?.postMessage(await answer(request)))
  parentPort?.postMessage('ready')
}
