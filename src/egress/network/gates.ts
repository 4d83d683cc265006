// The gates of the attempts that run here: each listens on a Unix socket of its own, alone in a folder that nobody else may enter.
import { chmod, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TrafficLimits } from '../../contract/kinds/tasks/network.ts'
import { writeHostName } from '../../contract/values/network-names.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import { removeTree } from '../../lib/tree-removal.ts'
import type { EgressPolicy } from '../../ports/service/egress.ts'
import type { GatedAttempt, HostTraffic, NetworkGate, NetworkGates } from '../../ports/workspaces/network-gates.ts'
import { createHostJudge, narrowLimits } from '../../rules/workspaces/network.ts'
import { type Resolve, resolveName } from '../dialer.ts'
import { type DialOptions, describeLimit, type GateTarget, type HostAnswer } from './dial.ts'
import { createGate } from './gate.ts'
import { createTraffic, type UsedTraffic } from './traffic.ts'

type NetworkGatesOptions = {
  policy: Pick<EgressPolicy, 'allowNetworks' | 'deny'>
  /** Of every task; its own may be smaller. */
  limits: Required<TrafficLimits>
  /** Gets the sums so far of hosts whose sums have changed; never rejects. */
  report(attempt: GatedAttempt, changed: HostTraffic[]): void
  /** Gets each limit that the task reaches, once; never rejects. */
  limit(attempt: GatedAttempt, message: string): void
  /** Called once nothing of it is open any more, after its last report; never rejects. */
  end(attempt: GatedAttempt): Promise<void>
  /** Bytes that the programs of its task have sent and received before. */
  countSpent?(attempt: GatedAttempt): Promise<number>
  /** Asks a person once, and answers at once. */
  ask(attempt: GatedAttempt, target: GateTarget): Promise<HostAnswer>
  resolve?: Resolve
  /** For tests. */
  redirect?: NonNullable<DialOptions['redirect']>
}

/** What a person has said so far is asked for no more often. */
const askMs = 1000
const maxAsked = 1000
/** Tasks whose traffic counts on: those of which a gate was opened last. */
const maxTasks = 10_000

/** A program may try again without a pause. What lets one connection pass is for whoever asked, and for nobody who joins it. */
function askSeldom(ask: (target: GateTarget) => Promise<HostAnswer>): (target: GateTarget) => Promise<HostAnswer> {
  const known = new BoundedMap<string, { answer: Promise<HostAnswer>; at: number }>({ max: maxAsked })
  return async (target) => {
    const key = writeHostName(target)
    const last = known.get(key)
    if (last !== undefined && performance.now() - last.at < askMs) {
      const answer = await last.answer
      if (answer !== 'once') return answer
    }
    const answer = ask(target)
    known.set(key, { answer, at: performance.now() })
    return answer
  }
}

export function createNetworkGates(options: NetworkGatesOptions): NetworkGates {
  const { policy, resolve = resolveName, redirect } = options
  const tasks = new BoundedMap<string, UsedTraffic>({ max: maxTasks })

  /** What other processes have counted is read once. */
  async function findUsed(attempt: GatedAttempt): Promise<UsedTraffic> {
    const { taskUid } = attempt.key
    const spent = tasks.has(taskUid) ? 0 : ((await options.countSpent?.(attempt)) ?? 0)
    const used = tasks.get(taskUid) ?? { bytes: spent, reached: new Set() }
    tasks.set(taskUid, used)
    return used
  }

  async function open(attempt: GatedAttempt): Promise<NetworkGate> {
    const used = await findUsed(attempt)
    const outer = await mkdtemp(join(tmpdir(), 'svc-network-'))
    const limits = narrowLimits(options.limits, attempt.rules.limits)
    const gate = createGate({
      judge: createHostJudge(attempt.rules),
      policy,
      limits,
      traffic: createTraffic((changed) => options.report(attempt, changed), used),
      onLimit(limit) {
        if (!used.reached.has(limit)) options.limit(attempt, describeLimit(limit, limits))
        used.reached.add(limit)
      },
      ask: askSeldom((target) => options.ask(attempt, target)),
      resolve,
      ...(redirect && { redirect }),
    })
    const socket = join(outer, 'gate')
    await new Promise<void>((done, fail) => gate.server.once('error', fail).listen(socket, done))
    // Whoever a container maps its user to may connect; the folder outside lets nobody else come here.
    await chmod(socket, 0o666)
    let closed: Promise<void> | undefined
    const close = async () => {
      gate.close()
      await removeTree(outer)
      await options.end(attempt)
    }
    return {
      socket,
      accept: gate.accept,
      close() {
        closed ??= close()
        return closed
      },
    }
  }

  return { open }
}
