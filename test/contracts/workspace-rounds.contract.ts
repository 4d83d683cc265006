// Many attempts at once in real workspaces, each with a fault in one of its phases: nothing may be left of any.
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isSvcError } from '../../src/errors.ts'
import { systemClock as clock, systemIds as ids } from '../../src/lib/system-clock.ts'
import type { ResourceKey } from '../../src/ports/resources/resources.ts'
import type { ExecutionWorkspaces } from '../../src/ports/workspaces/execution-workspaces.ts'
import type { WorkspaceKey } from '../../src/ports/workspaces/workspace-records.ts'
import { runShort } from '../../src/runtime/workspaces/commands.ts'
import {
  type Armed,
  breakProvider,
  breakRecords,
  type Plan,
  plans,
  type Round,
  writeSpec,
  writeWorker,
} from '../fixtures/workspaces/faulty-rounds.ts'
import { beginLife, LifeIsOver } from '../fixtures/workspaces/mortal.ts'
import { openWorkspaceService, packWorker, sweepOnce } from '../fixtures/workspaces/service.ts'
import { findProcesses } from './embedded-bench.ts'
import type { RecordBench } from './record-bench.ts'
import { openSqliteBench } from './sqlite-bench.ts'

export type RoundsBench = {
  provider: WorkspaceKey['provider']
  /** Where claims are made. */
  namespace: string
  template: ResourceKey
  /** Whether what runs in workspaces ends with the process of the service. */
  endsOnClose: boolean
  /** How many there are, unless SVC_TEST_WORKSPACE_ROUNDS says something else. */
  usualRounds: number
  /** For a process of the service; `kill` ends what ends with the process. */
  openProvider(worker: string): { workspaces: ExecutionWorkspaces; kill(): Promise<void> }
  /** Takes a workspace away, as the machine below it may. */
  lose(claim: ResourceKey): Promise<void>
  /** Whatever there is of workspaces: folders, actors, what they occupy. */
  listLeft(): Promise<string[]>
  close(): Promise<void>
}

const atOnce = 8
const sessions = 4
/** One in so many rounds finds the service killed. */
const roundsOfLife = 25
const over = ['Succeeded', 'Failed', 'Missing']

/** The same in every run, unless another seed is asked for. */
function createDice(seed = Number(process.env.SVC_PROPERTY_SEED ?? 1)) {
  let state = seed
  return (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * below)
  }
}

/** One process of the service after another, over the same records and workspaces. */
function openLives(bench: RoundsBench, store: RecordBench, worker: string) {
  const armed: Armed = new Map()
  const tokens = new Map<string, string>()
  const reasons = new Set<string>()

  function begin() {
    const life = beginLife()
    const provider = bench.openProvider(worker)
    const records = life.bind(breakRecords(store.stores().workspaces, armed))
    const providers = { [bench.provider]: life.bind(breakProvider(provider.workspaces, armed)) }
    const workloads = openWorkspaceService({
      providers,
      records,
      endsOnClose: bench.endsOnClose,
      readBundle: packWorker(worker),
      findSecrets: async ({ taskUid }) => [tokens.get(taskUid) ?? ''],
      report: async (_holder, { reason = '' }) => {
        reasons.add(reason)
      },
    })
    return { life, workloads, providers, records, provider }
  }

  const lives = {
    armed,
    tokens,
    reasons,
    now: begin(),
    async die(): Promise<void> {
      const { life, provider } = lives.now
      await Promise.all([life.end(), provider.kill()])
      lives.now = begin()
    },
  }
  return lives
}

type Lives = ReturnType<typeof openLives>
type Life = Lives['now']

/** False when this life of the service has ended meanwhile. */
async function within(life: Life, work: Promise<void>): Promise<boolean> {
  try {
    await Promise.race([work, life.life.over])
    return true
  } catch (error) {
    if (error instanceof LifeIsOver) return false
    throw error
  }
}

function createDriver(bench: RoundsBench, lives: Lives, dice: (below: number) => number) {
  const happened = new Set<string>()
  /** Uids of tasks that still want to run. */
  const live = new Set<string>()
  let dying = Promise.resolve()

  const sweep = (life: Life, retentionMs = Number.POSITIVE_INFINITY) =>
    sweepOnce({ ...life, retentionMs, isLive: ({ taskUid }) => live.has(taskUid) })
  const keyOf = ({ taskUid }: Round) => ({ taskUid, attempt: 1 })

  async function begin(life: Life, round: Round): Promise<void> {
    for (;;) {
      try {
        return await life.workloads.ensure(writeSpec(bench, round))
      } catch (error) {
        if (!isSvcError(error, 'Unavailable')) throw error
        // Whoever holds its workspace may have been lost with an earlier life.
        await sweep(life)
        await pause(20)
      }
    }
  }

  async function until({ workloads }: Life, round: Round, phases: string[]): Promise<void> {
    while (!phases.includes((await workloads.observe(keyOf(round))).phase)) await pause(20)
  }

  const soon = () => pause(dice(150))
  /** What happens until somebody removes the attempt; the others end by themselves. */
  const ends: Partial<Record<Plan, (life: Life, round: Round) => Promise<unknown>>> = {
    cancelled: soon,
    'kept-cancelled': soon,
    'hangs-cancelled': (life, round) => until(life, round, ['Running', ...over]),
    async 'hangs-lost'(life, round) {
      await until(life, round, ['Running', ...over])
      await bench.lose(round.claim)
      await until(life, round, over)
    },
  }

  async function runWhole(life: Life, round: Round): Promise<void> {
    await begin(life, round)
    await (ends[round.plan] ?? ((...all) => until(...all, over)))(life, round)
    await life.workloads.remove(keyOf(round))
    happened.add(round.plan)
  }

  /** As the service does that has just started: what runs goes on, what was lost is cleaned up. */
  async function runOn(life: Life, round: Round): Promise<void> {
    await until(life, round, over)
    await life.workloads.remove(keyOf(round))
  }

  async function run(round: Round): Promise<void> {
    const first = lives.now
    if (await within(first, runWhole(first, round))) return
    happened.add('restart')
    // Nobody comes back to some of them: their tasks were deleted meanwhile.
    for (let isDone = dice(3) === 0; !isDone; ) {
      await dying
      const life = lives.now
      isDone = await within(life, runOn(life, round))
    }
  }

  return {
    sweep,
    happened,
    async drive(round: Round): Promise<void> {
      if (round.number % roundsOfLife === roundsOfLife - 1) dying = dying.then(lives.die)
      await dying
      lives.tokens.set(round.taskUid, round.token)
      lives.armed.set(round.claim.name, round.plan)
      live.add(round.taskUid)
      await run(round)
      live.delete(round.taskUid)
    },
  }
}

/** In that many lanes. */
async function driveAll(count: number, drive: (number: number) => Promise<void>): Promise<void> {
  let next = 0
  const lane = async () => {
    for (let number = next++; number < count; number = next++) await drive(number)
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
}

export function describeWorkspaceRounds(name: string, open: () => Promise<RoundsBench>): void {
  describe(`rounds of execution workspaces of ${name}`, () => {
    let bench: RoundsBench
    let store: RecordBench
    beforeAll(async () => {
      bench = await open()
      store = await openSqliteBench()
    })
    afterAll(async () => {
      await bench?.close()
      await store?.close()
    })

    /** The file in which the worker of every round leaves its token is gone. */
    async function expectClean({ workspaces }: Life['provider'], mark: string): Promise<void> {
      for (const { facts } of await store.stores().workspaces.list()) {
        await workspaces.waitUntilReady(facts.claim, { timeoutMs: 30_000, signal: AbortSignal.timeout(30_000) })
        const command = ['grep', '-rlF', `made-up-${mark}`, '.']
        const searched = await runShort({ workspaces, clock, ids }, facts.claim, { command })
        expect(searched).toMatchObject({ exitCode: 1, stdout: '' })
      }
    }

    it('overlap, with a fault in each phase, and leave nothing', async () => {
      const rounds = Number(process.env.SVC_TEST_WORKSPACE_ROUNDS ?? bench.usualRounds)
      const mark = `6${Date.now()}${process.pid}`
      const dice = createDice()
      const lives = openLives(bench, store, writeWorker(mark))
      const { drive, sweep, happened } = createDriver(bench, lives, dice)
      const driveOne = (number: number, plan: Plan) => {
        const own = plan.startsWith('kept') ? `s${dice(sessions)}` : `r${number}`
        const claim = { namespace: bench.namespace, name: `svc-ws-${mark}-${own}` }
        return drive({ number, plan, claim, token: `made-up-${mark}-${ids.hex(16)}`, taskUid: `uid-${number}` })
      }
      await driveAll(rounds, (number) => driveOne(number, plans[number % plans.length] ?? 'fine'))
      // Each plan is seen whole at least once: one that the end of a life has cut short every time is run again, in peace.
      const peace = Math.ceil(rounds / roundsOfLife) * roundsOfLife
      const missed = plans.filter((plan) => !happened.has(plan))
      for (const [at, plan] of missed.entries()) await driveOne(peace + at, plan)
      lives.armed.clear()

      // Those of sessions are kept, and nobody holds them.
      expect(await sweep(lives.now)).toEqual([])
      const left = await lives.now.records.list()
      const shown = left.map(({ holder, isSeized, facts }) => [holder, isSeized, facts.cleanupPolicy])
      expect(shown).toEqual(left.map(() => [undefined, false, 'retain']))
      expect(left.length).toBeLessThanOrEqual(sessions)
      await expectClean(lives.now.provider, mark)
      expect(findProcesses(`sleep\0${mark}`)).toEqual([])

      expect(await sweep(lives.now, 0)).toEqual([])
      expect(await lives.now.records.list()).toEqual([])
      expect(await bench.listLeft()).toEqual([])
      expect(findProcesses(mark)).toEqual([])
      // Fewer rounds than these have not seen everything.
      const isWhole = rounds >= 5 * plans.length
      if (isWhole) expect(happened).toEqual(new Set([...plans, 'restart']))
      const reasons = ['ClaimFailed', 'ReadinessFailed', 'HandoffFailed', 'SecretScrubFailed', 'CleanupFailed']
      const seen = ['Deleted', 'Retained', ...(isWhole ? reasons : [])].map((reason) => `Workspace${reason}`)
      expect([...lives.reasons]).toEqual(expect.arrayContaining(seen))
      await lives.now.workloads.close()
      await lives.now.provider.kill()
    }, 600_000)
  })
}
