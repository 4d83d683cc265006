// Reports the tokens of every model call before anything is built on its answer: a lost call would never be counted.
import { isSvcError } from '../../errors.ts'
import type { ServedCall } from '../../llm/call/model.ts'
import type { Spending } from '../../llm/loop/loop.ts'
import type { WorkerApi } from '../api.ts'

/** No more is spent once the service has said so. */
export type UsageMeter = Spending & {
  /** Resolves when every call so far is reported. */
  settle(): Promise<void>
}

export function createUsageMeter(api: Pick<WorkerApi, 'submitUsage'>, attempt: number): UsageMeter {
  let count = 0
  let waiting: ServedCall[] = []
  let refusal: unknown

  async function report({ provider, model, usage, estimated, demo, brokeOff }: ServedCall): Promise<void> {
    const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens = 0 } = usage
    // The service keeps ids apart by task: a repeated report of this attempt counts once.
    const id = `${attempt}-${++count}`
    const estimates = {
      estimatedInputTokens: estimated?.inputTokens ?? 0,
      estimatedOutputTokens: estimated?.outputTokens ?? 0,
    }
    const tokens = { inputTokens, outputTokens, cachedTokens, cacheWriteTokens, ...estimates }
    const report = { id, provider, model, ...tokens, demo, brokeOff: brokeOff === true }
    await api.submitUsage(report).catch((error: unknown) => {
      // The call is recorded, and what came of it may be used; the next one is not made.
      if (!isSvcError(error, 'BudgetExceeded')) throw error
      refusal = error
    })
  }

  return {
    count: (call) => void waiting.push(call),
    async settle() {
      const calls = waiting
      waiting = []
      for (const call of calls) await report(call)
    },
    require() {
      if (refusal !== undefined) throw refusal
    },
  }
}
