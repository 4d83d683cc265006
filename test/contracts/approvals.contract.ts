// What every store of approvals does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ApprovalDraft } from '../../src/ports/tasks/parking.ts'
import { hardTexts, type OpenBench, useBench } from './record-bench.ts'

export function describeApprovals(name: string, open: OpenBench): void {
  describe(`approvals on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const approvals = () => bench().stores().approvals
    const inOneMinute = () => new Date(bench().now().getTime() + 60_000)
    const draft = (change: Partial<ApprovalDraft> = {}): ApprovalDraft => ({
      namespace: 'default',
      task: { uid: 'task-1', name: 'lead' },
      agentName: 'boss',
      call: '3-call_1',
      tool: 'delete_agent',
      arguments: { name: 'helper' },
      message: 'delete_agent {"name":"helper"}',
      expiresAt: inOneMinute(),
      ...change,
    })
    const ann = { kind: 'token', id: 'token:1', name: 'ann' } as const
    const bob = { kind: 'token', id: 'token:2', name: 'bob' } as const

    it('gives back every field of what was asked', async () => {
      const asked = await approvals().ask(draft())
      expect(asked).toEqual({
        id: expect.stringMatching(/^appr-[0-9a-f-]{36}$/),
        namespace: 'default',
        taskUid: 'task-1',
        taskName: 'lead',
        agentName: 'boss',
        tool: 'delete_agent',
        arguments: { name: 'helper' },
        message: 'delete_agent {"name":"helper"}',
        status: 'pending',
        createdAt: bench().now().toISOString(),
        expiresAt: inOneMinute().toISOString(),
      })
      expect(await approvals().get(asked.id)).toEqual(asked)
      expect(await approvals().get('appr-none')).toBeUndefined()
    })

    it('counts those that wait, by namespace', async () => {
      const answered = await approvals().ask(draft())
      await approvals().ask(draft({ call: 'b' }))
      await approvals().ask(draft({ call: 'c', namespace: 'other' }))
      await approvals().ask(draft({ call: 'd', expiresAt: new Date(bench().now().getTime() + 1000) }))
      expect(await approvals().countPending()).toEqual({ default: 3, other: 1 })
      await approvals().answer(answered.id, { status: 'approved', by: ann })
      bench().advance(2000)
      expect(await approvals().countPending()).toEqual({ default: 1, other: 1 })
    })

    it('asks once for one call of a task', async () => {
      const asked = await approvals().ask(draft())
      bench().advance(1000)
      expect(await approvals().ask(draft({ message: 'again' }))).toEqual(asked)
      expect((await approvals().ask(draft({ call: '4-call_1' }))).id).not.toBe(asked.id)
      expect((await approvals().ask(draft({ task: { uid: 'task-2', name: 'lead' } }))).id).not.toBe(asked.id)
    })

    it('counts one answer of several at once, and says who gave it', async () => {
      const { id } = await approvals().ask(draft())
      const answers = await Promise.allSettled([
        approvals().answer(id, { status: 'approved', by: ann }),
        approvals().answer(id, { status: 'declined', by: bob, reason: 'too dangerous' }),
      ])
      const [won] = answers.filter((answer) => answer.status === 'fulfilled')
      const [lost] = answers.filter((answer) => answer.status === 'rejected')
      expect(await approvals().get(id)).toEqual(won?.value)
      expect([ann, bob]).toContainEqual(won?.value.answeredBy)
      expect(won?.value.answeredAt).toBe(bench().now().toISOString())
      expect(lost?.reason).toMatchObject({ reason: 'Conflict' })
      expect(lost?.reason.message).toContain(`it is ${won?.value.status}`)
    })

    it('keeps the reason of a refusal, whatever text it is', async () => {
      for (const [at, reason] of hardTexts.entries()) {
        const { id } = await approvals().ask(draft({ call: `${at}` }))
        await approvals().answer(id, { status: 'declined', by: bob, reason })
        expect(await approvals().get(id)).toMatchObject({ status: 'declined', reason, answeredBy: bob })
      }
    })

    it('expires, and then takes no answer', async () => {
      const { id } = await approvals().ask(draft())
      bench().advance(60_000)
      expect((await approvals().get(id))?.status).toBe('expired')
      await expect(approvals().answer(id, { status: 'approved', by: ann })).rejects.toThrow(/it is expired/)
      await expect(approvals().answer('appr-none', { status: 'approved', by: ann })).rejects.toMatchObject({
        reason: 'NotFound',
      })
    })

    it('lists the newest first, by namespace, task and state', async () => {
      const names = async (query: Parameters<ReturnType<typeof approvals>['list']>[0]) =>
        (await approvals().list(query)).map(({ namespace, taskName, status }) => `${namespace}/${taskName} ${status}`)
      const first = await approvals().ask(draft())
      bench().advance(1000)
      await approvals().ask(draft({ namespace: 'other', task: { uid: 'task-2', name: 'far' } }))
      bench().advance(1000)
      await approvals().ask(draft({ call: 'next', expiresAt: bench().now() }))
      await approvals().answer(first.id, { status: 'approved', by: ann })
      expect(await names({ limit: 10 })).toEqual(['default/lead expired', 'other/far pending', 'default/lead approved'])
      expect(await names({ limit: 1 })).toEqual(['default/lead expired'])
      expect(await names({ namespaces: ['default'], limit: 10 })).toHaveLength(2)
      expect(await names({ namespaces: [], limit: 10 })).toEqual([])
      expect(await names({ taskName: 'far', limit: 10 })).toEqual(['other/far pending'])
      for (const status of ['pending', 'approved', 'expired'] as const) {
        expect(await names({ status, limit: 10 })).toEqual([expect.stringContaining(status)])
      }
      expect(await names({ status: 'declined', limit: 10 })).toEqual([])
    })

    it('is used once where it was approved once, by one of several at once, and then asked anew', async () => {
      const { id } = await approvals().ask(draft())
      expect(await approvals().use(id)).toBe(false)
      const answered = await approvals().answer(id, { status: 'approved', by: ann, scope: 'once' })
      expect([answered.scope, await approvals().get(id)]).toEqual(['once', answered])
      const used = await Promise.all([approvals().use(id), approvals().use(id)])
      expect(used.toSorted()).toEqual([false, true])
      expect(await approvals().use(id)).toBe(false)
      expect(await approvals().get(id)).toEqual(answered)
      const again = await approvals().ask(draft())
      expect([again.id === id, again.status]).toEqual([false, 'pending'])
      await approvals().answer(again.id, { status: 'approved', by: ann, scope: 'task' })
      expect(await approvals().use(again.id)).toBe(false)
      expect((await approvals().ask(draft())).id).toBe(again.id)
    })

    it('forgets a removed task', async () => {
      const { id } = await approvals().ask(draft())
      await approvals().removeTask('task-1')
      expect(await approvals().get(id)).toBeUndefined()
    })
  })
}
