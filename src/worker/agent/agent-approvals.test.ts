import { describe, expect, it } from 'vitest'
import type { ApprovalAnswerSeen, AskApproval } from '../../contract/api/coordination/coordination.ts'
import type { ParkWait } from '../../contract/api/tasks/parking.ts'
import type { TaskCoordination } from '../../ports/coordination/coordination.ts'
import { openApprovals } from './agent-approvals.ts'

const until = '2026-01-02T00:00:00.000Z'
const call = { title: 'run_command', kind: 'execute', rawInput: { command: 'make it' } }
const question = { tool: 'run_command', call, settle: () => ({ events: [] }) }

/** People, and what outlives an attempt. */
function createService() {
  const answers = new Map<string, ApprovalAnswerSeen>()
  const asked: AskApproval[] = []
  const stored: { state?: unknown } = {}
  const askApproval: TaskCoordination['askApproval'] = async (name, args) => {
    if (!answers.has(name)) asked.push(args)
    const wait: ParkWait = { kind: 'approval', call: name, id: `appr-${asked.length}`, until }
    const answer = answers.get(name) ?? { status: 'pending', wait }
    answers.set(name, answer)
    return answer
  }
  const api = {
    coordination: { askApproval } as TaskCoordination,
    loadCheckpoint: async () => (stored.state === undefined ? undefined : [stored.state]),
    saveCheckpoint: async (state: unknown) => {
      stored.state = state
    },
  }
  const answerAll = (answer: ApprovalAnswerSeen) => {
    for (const [name, { status }] of answers) if (status === 'pending') answers.set(name, answer)
  }
  const notes: string[] = []
  const redact = (text: string) => text.replaceAll('made-up-secret', '***')
  const open = (attempt: number) => {
    const folders = { workFolder: `/attempts/${attempt}`, home: `/tmp/agent-${attempt}` }
    return openApprovals(api, { task: { attempt }, folders, redact, note: (line) => void notes.push(line) })
  }
  return { asked, stored, answerAll, open, notes }
}

describe('a question of an agent program', () => {
  it('parks the run, and has its answer in the next one', async () => {
    const { open, answerAll, asked } = createService()
    const first = await open(1)
    expect([first.answers, await first.ask(question)]).toEqual(['', 'wait'])
    expect(await first.save()).toEqual([{ kind: 'approval', call: expect.any(String), id: 'appr-1', until }])
    answerAll({ status: 'approved', by: 'ada' })
    const second = await open(2)
    expect(second.answers).toContain('- approved: run_command {"title":"run_command"')
    expect(await second.ask(question)).toEqual({})
    expect(asked).toHaveLength(1)
    // One answer is for one call.
    expect(await second.ask(question)).toBe('wait')
    expect(asked).toHaveLength(2)
  })

  it('is the same one where the folders of the attempt are others', async () => {
    const { open, answerAll } = createService()
    const inAttempt = (attempt: number) => {
      const command = `cp /tmp/agent-${attempt}/a /attempts/${attempt}/b`
      return { ...question, call: { rawInput: { command } } }
    }
    const first = await open(1)
    await first.ask(inAttempt(1))
    await first.save()
    answerAll({ status: 'approved', by: 'ada' })
    const second = await open(2)
    expect(second.answers).toContain('cp /tmp/agent-2/a /attempts/2/b')
    expect(await second.ask(inAttempt(2))).toEqual({})
  })

  it('that is declined, or that nobody answers, is refused with the reason', async () => {
    const { open, answerAll } = createService()
    const first = await open(1)
    await first.ask(question)
    await first.save()
    answerAll({ status: 'declined', by: 'ada', reason: 'not today' })
    const second = await open(2)
    expect(second.answers).toContain('ada declined it (not today)')
    expect(await second.ask(question)).toEqual({ refusal: 'this call was not run: ada declined it (not today)' })
    const other = { ...question, call: { ...call, rawInput: { command: 'make more' } } }
    expect(await second.ask(other)).toBe('wait')
    answerAll({ status: 'expired' })
    expect(await (await open(3)).ask(other)).toEqual({
      refusal: 'this call was not run: nobody answered in time',
    })
  })

  it('shows no secret, not even a part of one, and is bounded', async () => {
    const { open, asked, notes } = createService()
    const command = `${'x'.repeat(16_300)}made-up-secret${'x'.repeat(100_000)}`
    await (await open(1)).ask({
      ...question,
      tool: `made-up-secret\n[${'t'.repeat(1000)}`,
      call: { rawInput: { command } },
    })
    expect(JSON.stringify([asked, notes])).not.toContain('made-up')
    expect(JSON.stringify(asked).length).toBeLessThan(25_000)
    expect(notes.join('')).not.toContain('\n')
  })

  it('that differs in a secret alone is another one', async () => {
    const { open, asked } = createService()
    const approvals = await open(1)
    await approvals.ask({ ...question, call: { rawInput: 'made-up-secret' } })
    await approvals.ask({ ...question, call: { rawInput: '***' } })
    expect(asked).toHaveLength(2)
  })

  it('that nests too deep to be shown is refused unasked', async () => {
    const { open, asked } = createService()
    const rawInput = JSON.parse('['.repeat(200_000) + ']'.repeat(200_000)) as unknown
    expect(await (await open(1)).ask({ ...question, call: { rawInput } })).toEqual({
      refusal: expect.stringContaining('too deep'),
    })
    expect(asked).toEqual([])
  })

  it('begins without answers where the saved state is of another sort', async () => {
    const { open, stored } = createService()
    stored.state = { kind: 'ai', state: {} }
    expect((await open(2)).answers).toBe('')
  })
})
