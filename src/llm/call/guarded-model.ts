// A model that is only called while something allows it, such as a budget that is not used up.
import { isSvcError, messageOf } from '../../errors.ts'
import type { ModelError } from '../messages/messages.ts'
import type { ModelClient } from './model.ts'

function toModelError(error: unknown): ModelError {
  const reason = isSvcError(error, 'BudgetExceeded') ? 'BudgetExceeded' : 'ServiceUnavailable'
  return { reason, message: messageOf(error) }
}

/** `ask` throws the reason against the next call; it runs before each, and then nothing is sent. */
export function guardModel(model: ModelClient, ask: () => void | Promise<void>): ModelClient {
  return {
    async call(request, listener) {
      try {
        const waiting = ask()
        if (waiting !== undefined) await waiting
      } catch (error) {
        await listener.take([{ type: 'error', error: toModelError(error) }])
        return
      }
      await model.call(request, listener)
    },
  }
}
