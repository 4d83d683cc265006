// How much one answer of a model may say, whoever reads it: all of it is held, searched for secrets and stored.
import { OversizedError } from '../../lib/buffer-quota.ts'
import type { ModelEvent } from '../messages/messages.ts'
import type { Listener } from './model-client.ts'

/** Of text, thinking and arguments in one answer, in bytes of UTF-8. What carries them may be larger (`answerBuffers`). */
export const maxTextBytes = 16 * 1024 ** 2

/** Throws OversizedError instead of passing on what would exceed the limit. */
export function limitText(take: Listener['take']): Listener['take'] {
  let sum = 0
  return (events) => {
    const bytes = events.reduce((total, event) => total + Buffer.byteLength(writtenIn(event)), 0)
    sum += bytes
    if (bytes > 0 && sum > maxTextBytes) throw new OversizedError('it sent more than 16 MiB of text in one answer')
    return take(events)
  }
}

function writtenIn(event: ModelEvent): string {
  switch (event.type) {
    case 'text_delta':
    case 'thinking_delta':
      return event.text
    case 'args_delta':
      return event.json
    case 'signature_delta':
      return event.signature
    default:
      return ''
  }
}
