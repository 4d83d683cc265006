import { describe, expect, it } from 'vitest'
import { parse } from '../../schema/validation.ts'
import { MessageSend, PlanSave, readMessages, recordLimit, TranscriptAppend, UsageSubmit } from './internal.ts'
import { ArtifactPath } from './task-records.ts'

describe('worker bodies', () => {
  it('have a plan of four fields [WORK-002]', () => {
    const plan = { summary: 's', progress_pct: 40, goal_complete: false, plan_document: '# plan' }
    expect(PlanSave.parse(plan)).toEqual(plan)
  })

  it.each([-1, 101, 1.5, '50'])('refuse a progress of %j [PLAN-014]', (progress) => {
    expect(PlanSave.safeParse({ summary: 's', plan_document: '', progress_pct: progress }).success).toBe(false)
  })

  it('have all four fields of a message', () => {
    const message = { fromTask: 'a', toTask: '*', parentTask: 'p', content: 'hi' }
    expect(MessageSend.parse(message)).toEqual(message)
    expect(parse(MessageSend, {}).error?.issues).toHaveLength(4)
    expect(MessageSend.safeParse({ ...message, toTask: '**' }).success).toBe(false)
    expect(MessageSend.safeParse({ ...message, content: '' }).success).toBe(false)
  })

  it('mark messages as read unless told not to, and need the parent [WORK-011]', () => {
    expect(readMessages.query.parse({ parentTask: 'p' })).toEqual({ parentTask: 'p', markRead: true })
    expect(readMessages.query.parse({ parentTask: 'p', markRead: 'false' }).markRead).toBe(false)
    expect(readMessages.query.safeParse({}).success).toBe(false)
  })

  it('append at least one message', () => {
    expect(TranscriptAppend.safeParse({ messages: [] }).success).toBe(false)
    expect(TranscriptAppend.safeParse({ messages: [{ role: 'user', content: 'x' }] }).success).toBe(true)
    expect(TranscriptAppend.safeParse({ messages: [{ role: 'robot', content: 'x' }] }).success).toBe(false)
  })

  it('count no tokens below zero', () => {
    const usage = { id: '1', provider: { namespace: 'n', name: 'p' }, model: 'm', inputTokens: 1, outputTokens: 2 }
    const counts = { cachedTokens: 0, cacheWriteTokens: 0, estimatedInputTokens: 0, estimatedOutputTokens: 0 }
    expect(UsageSubmit.parse(usage)).toEqual({ ...usage, ...counts, demo: false, brokeOff: false })
    expect(UsageSubmit.safeParse({ ...usage, outputTokens: -1 }).success).toBe(false)
  })

  it('hold records of 10 MiB', () => {
    expect(recordLimit).toBe(10_485_760)
  })
})

describe('artifact paths', () => {
  it.each(['a.txt', 'a/b', 'report 1.md', '..x', 'ä', '.hidden'])('may be %j', (name) => {
    expect(ArtifactPath.safeParse(name).success).toBe(true)
  })

  it.each(['', '.', '..', 'a/', '/a', 'a/../b', 'a\\b', 'a\0', 'a\n', 'x'.repeat(256)])('may not be %j', (name) => {
    expect(ArtifactPath.safeParse(name).success).toBe(false)
  })
})
