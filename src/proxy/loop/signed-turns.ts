// What a vendor has signed of its turns, for a client of chat completions: such clients have no field for signatures, and bring
// back those of others. One has them of the turn (`reasoning_details`, as OpenRouter writes them), or of a call (`extra_content`, as
// Gemini does); the seal in both is the same.
import type { JsonObject } from '../../lib/json.ts'
import { createCollector } from '../../llm/messages/collect.ts'
import { type ContentBlock, type Message, type ModelEvent, type Raw, toolUsesOf } from '../../llm/messages/messages.ts'
import { sealSigned } from '../../llm/messages/seal.ts'

/** `index`: of this turn among those that a client gets as one message. Undefined: nothing was signed. */
export function describeSigned(message: Message, index = 0): JsonObject | undefined {
  const data = sealSigned(message)
  if (data === undefined) return undefined
  const [call] = toolUsesOf(message)
  const detail = { type: 'reasoning.encrypted', data, ...(call && { id: call.id }), format: 'unknown', index }
  return { reasoning_details: [detail] }
}

const callFields = (seal: string): Raw => ({
  family: 'llmo',
  json: { extra_content: { google: { thought_signature: seal } } },
})

/** The blocks of a turn, with the seal at its first call. */
export function signFirstCall(message: Message): ContentBlock[] {
  const seal = sealSigned(message)
  const first = message.content.findIndex(({ type }) => type === 'tool_use')
  if (seal === undefined || first === -1) return message.content
  return message.content.with(first, { ...message.content[first], raw: callFields(seal) } as ContentBlock)
}

type CallStart = Extract<ModelEvent, { type: 'tool_use_start' }>

export type SignedCalls = {
  /** Each event of the model. */
  note(event: ModelEvent): void
  /** The call, with a seal of what was signed before it when it is the first of its turn. */
  sign(call: CallStart): CallStart
}

export function createSignedCalls(): SignedCalls {
  let turn: ReturnType<typeof createCollector> | undefined
  return {
    note(event) {
      if (event.type === 'start') turn = createCollector()
      // The rest of a turn is not signed, and may be long.
      if (event.type !== 'text_delta' && event.type !== 'args_delta') turn?.push([event])
    },
    sign(call) {
      const seal = turn && sealSigned(turn.turn().message)
      turn = undefined
      return seal === undefined ? call : { ...call, raw: callFields(seal) }
    },
  }
}
