// Chat: starts turns within the limits, reports its settings, and cancels sessions.
import type { ChatConfig, ChatRequest } from '../../contract/api/chat/chat.ts'
import { formatDuration } from '../../contract/values/duration.ts'
import { SvcError } from '../../errors.ts'
import { monotonicMs } from '../../lib/clock.ts'
import type { SessionKey } from '../../ports/chat/sessions.ts'
import type { ActionOrigin, Caller } from '../../ports/identity/identity.ts'
import type { Ports } from '../../ports/index.ts'
import { requireOpenNamespace } from '../coordination/orchestration/scope.ts'
import { requireAccess } from '../identity/access.ts'
import { createSlots } from '../service/slots.ts'
import {
  busySession,
  markTurnCancelled,
  noChat,
  readHolder,
  releaseExpired,
  type SessionLease,
} from './session-lease.ts'
import { type ChatSettings, defaultChatSettings } from './settings.ts'
import { runTurn, type TurnOutcome, type TurnSink } from './turn.ts'
import type { ChatDeps, TurnParts } from './turn-preparation.ts'
import { createTurnMaker } from './turn-preparation.ts'

export type ChatTurn = {
  sessionId: string
  /** Name of the Provider that is request first, and its model. */
  provider: string
  model: string
  /** Runs the turn to its end, once; never rejects. The signal is the client's. */
  run(sink: TurnSink, signal: AbortSignal): Promise<TurnOutcome>
}

export type ChatUsecases = {
  /** NotFound with `--chat-enabled=false`. */
  config(): Promise<ChatConfig>
  /**
   * Everything that can fail before the first model call. Its result must be run, or its slot and session stay taken.
   * ChatDisabled, TooManyRequests, Forbidden, InvalidRequest, Conflict, NotFound. `origin` is recorded in the audit log
   * with what the model does; `traceparent`: the trace that the turn belongs to.
   */
  begin(
    caller: Caller,
    namespace: string,
    request: ChatRequest,
    from: { origin: ActionOrigin; traceparent?: string | undefined },
  ): Promise<ChatTurn>
  /**
   * Ends the running turn, on whatever replica, and deletes the session. NotFound; Conflict when the turn does not end.
   */
  cancel(caller: Caller, key: SessionKey): Promise<void>
  /** Stops following the catalog; running turns are not affected. */
  close(): void
}

export function createChatUsecases(deps: ChatDeps): ChatUsecases {
  const settings: ChatSettings = { ...defaultChatSettings, ...deps.settings.chat }
  const slots = createSlots('chat requests', {
    max: settings.maxConcurrent,
    perNamespace: settings.maxConcurrentPerNamespace,
    perCaller: settings.maxConcurrentPerCaller,
  })
  const maker = createTurnMaker(deps, settings)
  const running: RunningTurns = new Map()

  function requireEnabled(): void {
    if (!settings.enabled) throw new SvcError('ChatDisabled', 'chat is turned off on this service (--chat-enabled)')
  }

  /** This replica registers a new session before other replicas can see it. */
  function requireIdle(namespace: string, name: string | undefined): void {
    if (name === undefined) return
    const key = { namespace, name }
    if (running.has(nameTurn(key))) throw busySession(key)
  }

  function open(parts: TurnParts, free: () => void): ChatTurn {
    const { lease, choices } = parts
    const { promise: done, resolve } = Promise.withResolvers<void>()
    running.set(nameTurn(lease.key), { lease, done })
    return {
      sessionId: lease.key.name,
      provider: choices[0]?.provider.name ?? '',
      model: choices[0]?.model ?? '',
      async run(sink, signal) {
        try {
          return await runTurn(deps, parts, { sink, signal })
        } finally {
          running.delete(nameTurn(lease.key))
          free()
          resolve()
        }
      },
    }
  }

  return {
    async config() {
      requireEnabled()
      return describeSettings(settings)
    },
    async begin(caller, namespace, request, from) {
      requireEnabled()
      const free = slots.take({ caller, namespace })
      try {
        requireOpenNamespace(namespace, settings.blockedNamespaces)
        requireIdle(namespace, request.sessionId)
        return open(await maker.prepare({ caller, namespace, request, ...from }), free)
      } catch (error) {
        free()
        throw error
      }
    },
    async cancel(caller, key) {
      requireEnabled()
      await requireAccess(deps.ports, caller, { verb: 'delete', kind: 'Session', ...key })
      await cancelSession(deps.ports, key, running)
    },
    close: maker.close,
  }
}

async function describeSettings(settings: ChatSettings): Promise<ChatConfig> {
  const { coreTools, managementTools } = await import('../../tools/coordination/orchestration-tools.ts')
  return {
    enabled: settings.enabled,
    provider: settings.provider,
    model: settings.model,
    maxIterations: settings.maxIterations,
    maxDuration: formatDuration(settings.maxDurationMs),
    toolTimeout: formatDuration(settings.toolTimeoutMs),
    maxTasksPerTurn: settings.maxTasksPerTurn,
    maxConcurrent: settings.maxConcurrent,
    maxSessionSize: settings.maxSessionBytes,
    availableTools: [...coreTools, ...managementTools].map(({ name }) => name),
  }
}

/** Turns of this replica, by session. */
export type RunningTurns = Map<string, RunningTurn>

type RunningTurn = { lease: SessionLease; done: Promise<unknown> }

export function nameTurn({ namespace, name }: SessionKey): string {
  return `${namespace}/${name}`
}

const graceMs = 5000
const pauseMs = 50

export async function cancelSession(
  { records, clock }: Pick<Ports, 'records' | 'clock'>,
  key: SessionKey,
  running: RunningTurns,
): Promise<void> {
  const deps = { sessions: records.sessions, clock }
  const deadline = monotonicMs(clock) + graceMs
  await endOwn(running.get(nameTurn(key)), clock)
  for (let active = await findHolder(deps.sessions, key); active !== undefined; ) {
    if (monotonicMs(clock) >= deadline) throw refuse(active)
    if (readHolder(active)?.state === 'turn') await markTurnCancelled(deps, key, active)
    await releaseExpired(deps, key, active)
    await clock.sleep(pauseMs)
    active = await findHolder(deps.sessions, key)
  }
  await records.sessions.remove(key)
}

// A shared reason: creating the default one costs a stack trace.
const ended = new Error('the turn has ended')

/** Ends a turn of this replica and waits for it, up to a limit: a tool may be slow to stop. */
async function endOwn(own: RunningTurn | undefined, clock: Ports['clock']): Promise<void> {
  if (own === undefined) return
  own.lease.cancel()
  const waiting = new AbortController()
  const late = clock.sleep(graceMs, waiting.signal).then(
    () => true,
    () => false,
  )
  const isLate = await Promise.race([own.done.then(() => false), late])
  waiting.abort(ended)
  if (isLate) throw stillInProgress()
}

/** Who holds the chat session. NotFound when it does not exist. */
async function findHolder(sessions: Ports['records']['sessions'], key: SessionKey): Promise<string | undefined> {
  const session = await sessions.get(key)
  if (session === undefined || session.sessionType !== 'chat') throw noChat(key)
  return session.activeTask
}

function refuse(holder: string): SvcError {
  if (readHolder(holder) !== undefined) return stillInProgress()
  return new SvcError('Conflict', 'a task is using this session; cancel the task first')
}

function stillInProgress(): SvcError {
  return new SvcError('Conflict', 'chat cancellation is still in progress; try again in a moment')
}
