// What the words mean with which vendors end an answer: `finish_reason` and `stop_reason`, of whichever server of either
// family, since compatible servers pass the words of the engine behind them on.
import type { CallFailure } from '../../contract/kinds/tasks/failures.ts'
import type { StopReason } from './messages.ts'

/** Why an answer that has begun is not whole. */
export type EndFailure = Extract<CallFailure, 'AnswerBrokenOff' | 'ProviderFailed' | 'ProviderOverloaded'>
export type Ending = StopReason | EndFailure

/** Every outcome has a row, or the code does not compile. Words are in the form that `plainWord` gives them. */
const words: Record<Ending, string> = {
  end_turn:
    'stop end_turn end stopped complete completed finish finished done normal eos eos_token eos_found stop_token end_of_text',
  stop_sequence: 'stop_sequence stop_sequences stop_str stop_word',
  tool_use: 'tool_calls tool_call tool_use tool function_call function_calls',
  max_tokens:
    'length max_tokens model_length max_length max_output_tokens max_completion_tokens max_output max_tokens_reached token_limit ' +
    'length_capped output_limit context_length context_length_exceeded context_window_exceeded ' +
    'model_context_window_exceeded error_limit incomplete repetition truncated',
  refusal:
    'refusal content_filter content_filtered content_filter_error safety image_safety sensitive output_sensitive ' +
    'recitation blocklist prohibited_content spii language model_armor guardrail guardrail_intervened guardrails ' +
    'moderation error_toxic blocked risk',
  /** The conversation is sent back unchanged, to continue. */
  pause: 'pause_turn compaction',
  AnswerBrokenOff:
    'abort aborted cancel cancelled canceled user_cancel interrupted disconnect timeout time_limit network_error ' +
    'function_call_filter malformed_function_call malformed_tool_use malformed_model_output unexpected_tool_call ' +
    'too_many_tool_calls missing_thought_signature other unspecified unknown',
  ProviderFailed: 'error failed failure internal_error server_error load unload',
  ProviderOverloaded: 'insufficient_system_resource insufficient_resources resource_exhausted overloaded',
}

const endings = new Map(
  Object.entries(words).flatMap(([ending, list]) => list.split(' ').map((word) => [word, ending as Ending] as const)),
)

/** Words that say that an answer is not over yet. */
const open = ['', 'null', 'none', 'not_finished', 'in_progress']

/** `FinishReason.MAX_TOKENS`, `maxTokens` and `max-tokens` are one word; what follows a colon is a detail. */
function plainWord(word: string): string {
  return word
    .replace(/^finish_?reason[._]/i, '')
    .replace(/:.*$/s, '')
    .trim()
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replace(/[\s-]+/g, '_')
    .toLowerCase()
}

/** Whether the vendor has named an end at all. */
export function isEndWord(word: unknown): word is string {
  return typeof word === 'string' && !open.includes(plainWord(word))
}

/** Undefined: the word is not known, and an answer that ends with it is not known to be whole. */
export function readEnding(word: string): Ending | undefined {
  return endings.get(plainWord(word))
}

export function isFailedEnd(ending: Ending): ending is EndFailure {
  return ending === 'AnswerBrokenOff' || ending === 'ProviderFailed' || ending === 'ProviderOverloaded'
}
