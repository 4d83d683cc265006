// How records without a task are found and removed, over all stores.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { TaskNoun } from '../../src/ports/resources/retention.ts'
import { type BenchStores, MEBIBYTE, makeBody, type OpenBench, textBody, useBench } from './record-bench.ts'

/** Every noun that goes with a task, by its port. */
const givers: Record<TaskNoun, (stores: BenchStores, taskUid: string) => Promise<unknown>> = {
  results: (stores, taskUid) => stores.results.put({ taskUid, attempt: 1 }, makeBody(MEBIBYTE).body, 'text/plain'),
  artifacts: (stores, taskUid) =>
    stores.artifacts.put({ taskUid, attempt: 1 }, { filename: 'f', contentType: 'x/y', body: textBody('x') }),
  inputs: (stores, taskUid) =>
    stores.inputs.put({ taskUid, attempt: 0 }, { filename: 'f', contentType: 'x/y', body: textBody('') }),
  logs: (stores, taskUid) => stores.logs.append({ taskUid, attempt: 1 }, ['x']),
  checkpoints: (stores, taskUid) => stores.checkpoints.save({ taskUid, attempt: 1 }, 'x'),
  parkings: (stores, taskUid) =>
    stores.parkings.park({ taskUid, attempt: 1 }, [
      { kind: 'time', call: '1-a', what: 'tea', until: '2030-01-01T00:00:00.000Z' },
    ]),
  steps: (stores, taskUid) =>
    stores.steps.write({ taskUid, attempt: 1 }, [
      { id: '1', kind: 'tool', name: 'x', startedAt: '2030-01-01T00:00:00.000Z' },
    ]),
  network: (stores, taskUid) =>
    stores.network.add({ taskUid, attempt: 1 }, [
      {
        host: 'a.example',
        port: 443,
        connections: 1,
        refused: 0,
        unlisted: 0,
        sent: 0,
        received: 0,
        firstAt: '2030-01-01T00:00:00.000Z',
        lastAt: '2030-01-01T00:00:00.000Z',
      },
    ]),
  approvals: (stores, uid) =>
    stores.approvals.ask({
      namespace: 'default',
      task: { uid, name: 't' },
      call: '1-a',
      tool: 'x',
      arguments: {},
      message: 'may I?',
      expiresAt: new Date('2030-01-01T00:00:00Z'),
    }),
  plans: (stores, taskUid) =>
    stores.plans.save({
      taskUid,
      namespace: 'default',
      taskName: 't',
      iteration: 0,
      summary: '',
      progressPct: 0,
      goalComplete: false,
      planDocument: '',
    }),
  messages: (stores, uid) => {
    const task = { uid, name: 't' }
    return stores.messages.send({ namespace: 'default', from: task, to: '*', parent: task, content: 'x' })
  },
  memories: async (stores, reader) => {
    await stores.memories.create({
      id: `mem-${reader}`,
      namespace: 'default',
      source: 'manual',
      content: 'a fact',
      disabled: false,
    })
    await stores.memories.recall({ namespace: 'default', ids: [`mem-${reader}`], query: 'fact', limit: 1, reader })
  },
  events: (stores, taskUid) =>
    stores.events.append({ taskUid, attempt: 1, namespace: 'default', taskName: 't', type: 'X', message: '' }),
}

export function describeRetention(name: string, open: OpenBench): void {
  describe(`record owners on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const owners = () => bench().stores().owners

    it('lists each task once, whichever records it has [TASK-063]', async () => {
      expect(await owners().taskUids(undefined, 10)).toEqual([])
      for (const [noun, give] of Object.entries(givers)) {
        await give(bench().stores(), `only-${noun}`)
        await give(bench().stores(), 'all-of-them')
      }
      const expected = ['all-of-them', ...Object.keys(givers).map((noun) => `only-${noun}`)].sort()
      expect(await owners().taskUids(undefined, 100)).toEqual(expected)
    })

    it('lists them page by page in bytewise order', async () => {
      const uids = Array.from({ length: 25 }, (_, index) => `task-${String(index).padStart(2, '0')}`)
      const kinds = Object.values(givers)
      for (const [index, uid] of uids.entries()) await kinds[index % kinds.length]?.(bench().stores(), uid)
      const seen: string[] = []
      for (let page = await owners().taskUids(undefined, 10); page.length > 0; ) {
        seen.push(...page)
        page = page.length < 10 ? [] : await owners().taskUids(seen.at(-1), 10)
      }
      expect(seen).toEqual(uids)
    })

    it('removes everything of one task except its usage [TASK-063]', async () => {
      for (const give of Object.values(givers)) {
        await give(bench().stores(), 'gone')
        await give(bench().stores(), 'stays')
      }
      await bench()
        .stores()
        .usage.record([
          {
            id: 'call',
            namespace: 'default',
            provider: 'p',
            model: 'm',
            taskUid: 'gone',
            inputTokens: 1,
            outputTokens: 1,
            cachedTokens: 0,
            demo: false,
            createdAt: bench().now().toISOString(),
          },
        ])
      await owners().removeTask('gone')
      await owners().removeTask('gone')
      expect(await owners().taskUids(undefined, 10)).toEqual(['stays'])
      await bench().reopen()
      expect(await owners().taskUids(undefined, 10)).toEqual(['stays'])
      expect(await bench().countBodies()).toBe(1)
      expect((await bench().stores().usage.ofTask('gone'))?.llmCalls).toBe(1)
    })
  })
}
