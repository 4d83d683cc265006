import { describe, expect, it } from 'vitest'
import type { AgentEvent } from '../agents/agent-runtime.ts'
import { ProgressReport, progressLimits } from '../contract/api/tasks/progress.ts'
import { parse } from '../contract/schema/validation.ts'
import { createProgress } from './progress.ts'

const secret = 'made-up-secret'

function follow(events: Iterable<AgentEvent>, fails = () => false) {
  const reports: ProgressReport[] = []
  const progress = createProgress({
    send: async (report) => {
      if (fails()) throw new Error('the service is away')
      reports.push(report)
    },
    redact: (text) => text.replaceAll(secret, '***'),
    clock: { now: () => new Date(0), sleep: async () => undefined },
    maxTurns: 5,
    workFolder: '/workspace',
  })
  for (const event of events) progress.note(event)
  return { note: progress.note, end: progress.end, reports, steps: () => reports.flatMap(({ events: told }) => told) }
}

const call = (id: string, name: string, input: unknown, edits?: string[]): AgentEvent => {
  return { type: 'tool_started', id, name, input, ...(edits && { edits }) }
}

describe('the progress of an agent program', () => {
  it('is told step by step in few words, without secrets and in one line each', async () => {
    const { end, steps } = follow([
      { type: 'session', id: 's' },
      { type: 'turn' },
      call('1', 'Write', { file_path: '/workspace/docs/a.md', content: 'x' }, ['/workspace/docs/a.md']),
      { type: 'tool_ended', id: '1', isError: false },
      call('2', 'Bash', { command: `curl -H ${secret}\nls` }),
      { type: 'tool_ended', id: '2', isError: true },
      call('3', 'Think', undefined),
      { type: 'tool_ended', id: '3', isError: false },
      { type: 'refused', tool: 'Bash', message: 'no shell' },
      { type: 'retried', message: 'overloaded; try 1 of 10' },
      { type: 'text', text: 'hello' },
      { type: 'result', text: 'done' },
    ])
    await end()
    expect(steps().map(({ type, message }) => `${type}: ${message}`)).toEqual([
      'TurnStarted: turn 1 of 5 at most',
      'ToolCalled: Write docs/a.md',
      'FilesEdited: docs/a.md',
      'ToolCalled: Bash curl -H *** ls',
      'ToolFailed: Bash',
      'ToolCalled: Think',
      'ToolRefused: Bash: no shell',
      'ModelRetried: overloaded; try 1 of 10',
    ])
  })

  it('shows no part of a secret that stands far behind', async () => {
    const { end, steps } = follow([call('1', 'Bash', { command: `echo${'\n'.repeat(4085)}${secret}` })])
    await end()
    expect(steps()).toEqual([{ type: 'ToolCalled', message: 'Bash echo ***' }])
  })

  it('does no harm as a flood: few steps are told, each is short, and the rest is counted', async () => {
    function* flood(): Generator<AgentEvent> {
      for (let id = 0; id < 100_000; id += 1) yield call(String(id), 'x'.repeat(1000), { path: 'y'.repeat(1000) })
    }
    const { end, reports, steps } = follow(flood())
    await end()
    expect(reports.every((report) => parse(ProgressReport, report).success)).toBe(true)
    expect(steps()).toHaveLength(progressLimits.atOnce + 1)
    expect(steps().at(-1)).toEqual({
      type: 'StepsLeftOut',
      message: `${100_000 - progressLimits.atOnce} more steps are in the log alone`,
    })
  })

  it('is told up to a number of steps, however slowly they come', async () => {
    const { note, end, steps } = follow([])
    for (let id = 0; id < progressLimits.perAttempt + 20; id += 1) {
      note(call(String(id), 'Read', {}))
      await new Promise(setImmediate)
    }
    await end()
    expect(steps().filter(({ type }) => type === 'ToolCalled')).toHaveLength(progressLimits.perAttempt)
    expect(steps().at(-1)?.message).toBe('20 more steps are in the log alone')
  })

  it('that the service does not take is left out and counted', async () => {
    let isAway = true
    const { end, steps } = follow([{ type: 'turn' }], () => isAway)
    await new Promise(setImmediate)
    isAway = false
    await end()
    expect(steps()).toEqual([{ type: 'StepsLeftOut', message: '1 more step is in the log alone' }])
  })
})
