// What every store of plans does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { planLimits } from '../../src/contract/api/tasks/task-records.ts'
import type { Plan } from '../../src/ports/tasks/outputs.ts'
import { hardTexts, type OpenBench, useBench } from './record-bench.ts'

export function describePlans(name: string, open: OpenBench): void {
  describe(`plans on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const plans = () => bench().stores().plans
    const draft: Omit<Plan, 'createdAt' | 'updatedAt'> = {
      taskUid: 'task-1',
      namespace: 'default',
      taskName: 'research',
      iteration: 1,
      summary: 'started',
      progressPct: 10,
      goalComplete: false,
      planDocument: '# Plan\n\n- [ ] look',
    }

    it('gives back every field', async () => {
      const now = bench().now().toISOString()
      expect(await plans().save(draft)).toEqual({ ...draft, createdAt: now, updatedAt: now })
      expect(await plans().get('task-1')).toEqual({ ...draft, createdAt: now, updatedAt: now })
      expect(await plans().get('task-2')).toBeUndefined()
    })

    it('replaces the plan of the task and keeps its creation time', async () => {
      const first = await plans().save(draft)
      bench().advance(5_000)
      const next = { ...draft, iteration: 2, progressPct: 100, goalComplete: true, summary: 'done', planDocument: '' }
      expect(await plans().save(next)).toEqual({
        ...next,
        createdAt: first.createdAt,
        updatedAt: bench().now().toISOString(),
      })
    })

    it('keeps plans of tasks with the same name apart by uid [TASK-044]', async () => {
      await plans().save(draft)
      await plans().save({ ...draft, taskUid: 'task-1b', summary: 'another' })
      expect((await plans().get('task-1'))?.summary).toBe('started')
    })

    it('refuses a progress outside 0..100 by name, and keeps the earlier plan [PLAN-014]', async () => {
      await plans().save(draft)
      for (const progressPct of [-1, 101, 50.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        await expect(plans().save({ ...draft, progressPct })).rejects.toMatchObject({
          reason: 'InvalidRequest',
          status: 400,
          details: [{ path: 'progressPct' }],
        })
      }
      await expect(plans().save({ ...draft, progressPct: -1, iteration: -1 })).rejects.toMatchObject({
        details: [{ path: 'progressPct' }, { path: 'iteration' }],
      })
      expect((await plans().get('task-1'))?.progressPct).toBe(10)
      for (const progressPct of [0, 100])
        expect((await plans().save({ ...draft, progressPct })).progressPct).toBe(progressPct)
    })

    it('keeps every plan that was saved, newest first and in pages', async () => {
      expect(await plans().history('task-1', { limit: 10 })).toEqual([])
      for (let number = 1; number <= 5; number += 1) {
        await plans().save({ ...draft, iteration: number > 3 ? 2 : 1, summary: `save ${number}`, progressPct: number })
        bench().advance(1000)
      }
      await plans().save({ ...draft, taskUid: 'task-2' })
      await bench().reopen()
      const all = await plans().history('task-1', { limit: 10 })
      expect(all.map(({ number, summary, iteration }) => [number, summary, iteration])).toEqual([
        [5, 'save 5', 2],
        [4, 'save 4', 2],
        [3, 'save 3', 1],
        [2, 'save 2', 1],
        [1, 'save 1', 1],
      ])
      const { summary, goalComplete, planDocument } = (await plans().get('task-1')) ?? draft
      expect(all[0]).toMatchObject({ summary, goalComplete, planDocument, progressPct: 5 })
      expect(Date.parse(all[0]?.savedAt ?? '') - Date.parse(all[1]?.savedAt ?? '')).toBe(1000)
      expect(await plans().history('task-1', { limit: 2, before: 4 })).toEqual(all.slice(2, 4))
    })

    it('numbers plans that are saved at once, and adds none that was refused', async () => {
      await Promise.all(Array.from({ length: 20 }, (_, at) => plans().save({ ...draft, summary: `save ${at}` })))
      await expect(plans().save({ ...draft, progressPct: 101 })).rejects.toMatchObject({ reason: 'InvalidRequest' })
      const numbers = (await plans().history('task-1', { limit: 50 })).map(({ number }) => number)
      expect(numbers).toEqual(Array.from({ length: 20 }, (_, at) => 20 - at))
      const [newest] = await plans().history('task-1', { limit: 1 })
      expect(newest?.summary).toBe((await plans().get('task-1'))?.summary)
    })

    it('drops the oldest plans when there are too many or they are too long', async () => {
      for (let number = 1; number <= planLimits.versions + 3; number += 1) await plans().save(draft)
      const many = await plans().history('task-1', { limit: 1000 })
      expect([many.length, many.at(-1)?.number]).toEqual([planLimits.versions, 4])
      const planDocument = 'd'.repeat(planLimits.document)
      for (let number = 1; number <= 20; number += 1) await plans().save({ ...draft, planDocument })
      const long = await plans().history('task-1', { limit: 1000 })
      expect(long.every((plan) => plan.planDocument === planDocument)).toBe(true)
      expect(long.length).toBe(15)
    })

    it('keeps any text as it is', async () => {
      for (const text of [...hardTexts, '', 'd'.repeat(1_000_000)]) {
        await plans().save({ ...draft, summary: text, planDocument: text })
        const plan = await plans().get('task-1')
        expect([plan?.summary === text, plan?.planDocument === text]).toEqual([true, true])
      }
    })

    it('survives a restart, and goes with its task only', async () => {
      await plans().save(draft)
      await plans().save({ ...draft, taskUid: 'task-2' })
      await bench().reopen()
      expect((await plans().get('task-1'))?.summary).toBe('started')
      await plans().removeTask('task-1')
      await plans().removeTask('task-1')
      expect(await plans().get('task-1')).toBeUndefined()
      expect(await plans().history('task-1', { limit: 1 })).toEqual([])
      expect(await plans().get('task-2')).toBeDefined()
      expect(await plans().history('task-2', { limit: 1 })).toHaveLength(1)
    })
  })
}
