import { expect, it } from 'vitest'
import { failures } from '../contract/kinds/tasks/failures.ts'
import type { FinishReason, LoopState } from '../llm/loop/loop-state.ts'
import { readAttemptEnd } from './outcome.ts'

it.each([
  ['unchecked_output', 'UncheckedOutput', 'final'],
  ['invalid_output', 'InvalidOutput', 'retried'],
] satisfies [FinishReason, string, string][])(
  'an answer that ended as %s fails as %s, which is %s',
  (reason, cause, how) => {
    const state = { text: '{}', corrections: 2, finished: { reason, problem: 'no' } } as LoopState
    const end = readAttemptEnd(state)
    expect(end).toMatchObject({ failure: { ok: false, reason: cause }, rejected: '{}' })
    expect(failures[cause as 'InvalidOutput'].class).toBe(how)
  },
)
