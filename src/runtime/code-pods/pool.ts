// A few pods that wait for code to run: each is used once, only by this replica, and then deleted.
import type { KubernetesApi } from '../../cluster/api.ts'
import type { OwnerReference } from '../../contract/kinds/resources/metadata.ts'
import { isSvcError, messageOf, SvcError } from '../../errors.ts'
import { onAbort } from '../../lib/abort.ts'
import type { Clock, Ids } from '../../lib/clock.ts'
import { createObjectCache } from '../jobs/object-cache.ts'
import { type Pod, podLabels, pods } from '../jobs/objects.ts'
import { containerStateOf, hasPodEnded, judge } from '../jobs/verdict.ts'
import { makeSandboxPod, sandboxPoolLabel } from './pod.ts'

export type SandboxPoolOptions = {
  api: KubernetesApi
  clock: Clock
  ids: Ids
  log: { warn(fields: Record<string, unknown>, message: string): void }
  /** Identifies this installation on the cluster, as for workloads. */
  instance: string
  /** The namespace of sandboxes: best one without secrets. */
  namespace: string
  /** Must contain sh, env, head, cp, and the languages. */
  image: string
  /** Number of waiting pods; default 2. */
  size?: number
  /** The most pods, waiting and busy; default 8. */
  max?: number
  memoryBytes: number
  diskBytes: number
  cpu?: number
  /** This replica's own pod: its sandboxes are removed with it. */
  owner?: OwnerReference
  /** Secrets with the registries' credentials, by name. */
  imagePullSecrets?: readonly string[]
}

export type SandboxPool = {
  /** An unused pod; Unavailable when none is ready in time. Must be released. */
  take(signal: AbortSignal): Promise<Pod>
  /** Deletes the pod. */
  giveBack(pod: Pod): Promise<void>
  /** Removes every pod of this replica. */
  close(): Promise<void>
}

const defaultSize = 2
const defaultMax = 8
/** Waiting pods are replaced about every hour: none lives forever. */
const lifeSeconds = 3600
const startGraceMs = 60_000
const takeTimeoutMs = 60_000
const retryMs = 2000
/** Outside the ranges that nodes and images use. */
const users = { first: 1_000_000_000, count: 1_000_000_000 }

function isReady(pod: Pod): boolean {
  return (
    pod.metadata.deletionTimestamp === undefined && !hasPodEnded(pod) && containerStateOf(pod).running !== undefined
  )
}

/** Remembers the last error, to explain why no pod was ready. */
function createFaultNote({ log, clock }: SandboxPoolOptions) {
  let last = 'none was ready in time'
  return {
    cause: () => last,
    note(error: unknown): void {
      last = messageOf(error)
      log.warn({ error: last }, 'the pool of sandboxes reported an error')
    },
    /** Whether a waiting pod can no longer be used. */
    hasFailed(pod: Pod): boolean {
      const { state } = judge({ job: undefined, pod }, { now: clock.now(), startGraceMs, nodeGraceMs: startGraceMs })
      if ('message' in state && state.message !== undefined) last = state.message
      return state.phase === 'Failed' || state.phase === 'Succeeded'
    },
  }
}

/** Creates and deletes the pods of one pool. */
function createPodMaker(options: SandboxPoolOptions, pool: string, note: (error: unknown) => void) {
  const { api, ids, namespace, instance, image, memoryBytes, diskBytes, cpu = 1, owner, imagePullSecrets } = options
  return {
    create(name: string): Promise<Pod> {
      const user = users.first + Math.floor(ids.random() * users.count)
      const identity = { name, namespace, instance, pool, image, owner, imagePullSecrets }
      const body = makeSandboxPod({ ...identity, user, memoryBytes, diskBytes, cpu, lifeSeconds })
      return api.request<Pod>({ verb: 'create', collection: pods, namespace, body })
    },
    async remove(name: string): Promise<void> {
      try {
        await api.request({ verb: 'delete', collection: pods, namespace, name, query: { gracePeriodSeconds: 1 } })
      } catch (error) {
        if (!isSvcError(error, 'NotFound')) note(error)
      }
    },
  }
}

type Waiter = { resolve(pod: Pod): void }

/** Waits in the queue; the error says why no pod came. */
async function queueUp(line: Waiter[], signals: { caller: AbortSignal; closing: AbortSignal }, cause: () => string) {
  const { promise, resolve, reject } = Promise.withResolvers<Pod>()
  const waiter = { resolve }
  const limit = AbortSignal.any([signals.caller, signals.closing, AbortSignal.timeout(takeTimeoutMs)])
  const leave = () => {
    const at = line.indexOf(waiter)
    if (at !== -1) line.splice(at, 1)
    const message = `no sandbox could be had: ${cause()}; try again later`
    reject(signals.caller.aborted ? signals.caller.reason : new SvcError('Unavailable', message))
  }
  line.push(waiter)
  return promise.finally(onAbort(limit, leave))
}

type WarmPodParts = {
  all(): Pod[]
  remove(name: string): Promise<void>
  faults: ReturnType<typeof createFaultNote>
}

/** The pods that nobody has taken. */
function createWarmPods({ all, remove, faults }: WarmPodParts) {
  const taken = new Set<string>()
  const listFree = () =>
    all().filter(({ metadata }) => !taken.has(metadata.name) && metadata.deletionTimestamp === undefined)
  return {
    /** Ready now or soon. */
    listFree,
    /** Deletes pods that ended before they were taken, and forgets deleted ones. */
    tidy(): void {
      const present = new Set(all().map(({ metadata }) => metadata.name))
      for (const name of taken) if (!present.has(name)) taken.delete(name)
      for (const pod of listFree().filter(faults.hasFailed)) {
        taken.add(pod.metadata.name)
        void remove(pod.metadata.name)
      }
    },
    /** Hands ready pods to waiting callers, in order. */
    serve(waiting: Waiter[]): void {
      for (const pod of listFree().filter(isReady).slice(0, waiting.length)) {
        taken.add(pod.metadata.name)
        waiting.shift()?.resolve(pod)
      }
    },
  }
}

export function createSandboxPool(options: SandboxPoolOptions): SandboxPool {
  const { api, clock, ids, namespace, instance, size = defaultSize, max = defaultMax } = options
  const pool = ids.hex(12)
  const closing = new AbortController()
  /** Names of requested pods that are not in the cache yet. */
  const starting = new Set<string>()
  const waiting: Waiter[] = []
  const faults = createFaultNote(options)
  const maker = createPodMaker(options, pool, faults.note)

  const cache = createObjectCache<Pod>({
    api,
    clock,
    ids,
    namespaces: [namespace],
    collection: pods,
    labelSelector: `${podLabels.instance}=${instance},${sandboxPoolLabel}=${pool}`,
    onChange: () => arrange(),
    onFault: faults.note,
  })

  const warm = createWarmPods({ all: () => cache.all(), remove: maker.remove, faults })

  async function start(): Promise<void> {
    const name = `svc-sandbox-${pool}-${ids.hex(8)}`
    starting.add(name)
    try {
      cache.put(await maker.create(name))
    } catch (error) {
      faults.note(error)
      await clock.sleep(retryMs, closing.signal).catch(() => undefined)
    } finally {
      starting.delete(name)
      if (closing.signal.aborted) void maker.remove(name)
      arrange()
    }
  }

  function refill(): void {
    const free = warm.listFree().filter((pod) => !starting.has(pod.metadata.name)).length + starting.size
    const present = cache.all().length
    const wanted = Math.min(size + waiting.length - free, max - present - starting.size)
    for (let more = 0; more < wanted; more += 1) void start()
  }

  function arrange(): void {
    if (closing.signal.aborted) return
    warm.tidy()
    warm.serve(waiting)
    refill()
  }

  const arrangeWhenReady = () => cache.ready.then(arrange, () => undefined)

  /** A cluster that does not answer is given no more time than a pod. */
  function take(signal: AbortSignal): Promise<Pod> {
    const pod = queueUp(waiting, { caller: signal, closing: closing.signal }, faults.cause)
    void arrangeWhenReady()
    return pod
  }

  void arrangeWhenReady()
  return {
    take,
    giveBack: (pod) => maker.remove(pod.metadata.name),
    async close() {
      closing.abort()
      const names = cache.all().map(({ metadata }) => metadata.name)
      await Promise.all(names.map(maker.remove))
      await cache.close()
    },
  }
}
