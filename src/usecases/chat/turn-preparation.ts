// Everything in a turn before its first model call: rights, models, prompt, tools, and the session, which is taken
// last.
import { createHash } from 'node:crypto'
import type { ChatRequest } from '../../contract/api/chat/chat.ts'
import type { ModelChoice } from '../../contract/api/tasks/assignment.ts'
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { SvcError } from '../../errors.ts'
import { trimTrailing } from '../../lib/trim.ts'
import type { LoopState } from '../../llm/loop/loop-state.ts'
import type { ToolHost } from '../../llm/loop/tool-host.ts'
import { createLookupCaches } from '../../lookup/cache.ts'
import type { SessionKey } from '../../ports/chat/sessions.ts'
import type { ActionOrigin, Caller } from '../../ports/identity/identity.ts'
import type { BudgetSubject } from '../../rules/budgets/budget.ts'
import type { TraceOrigin } from '../../rules/tasks/trace-context.ts'
import { findBilledCaller } from '../budgets/billed-caller.ts'
import { type BoundOrchestration, bindOrchestration } from '../coordination/orchestration/orchestration.ts'
import type { OrchestrationDeps } from '../coordination/orchestration/tasks.ts'
import { requireAccess } from '../identity/access.ts'
import { requireActingInSession } from '../resources/admission/acting.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { keepUsable } from '../tools/custom-tools.ts'
import { createModelChooser } from './models.ts'
import { createPromptBuilder } from './prompt.ts'
import { createSecretWords } from './secret-words.ts'
import { leaseSession, type SessionLease } from './session-lease.ts'
import type { SessionUsecases } from './sessions.ts'
import type { ChatSettings } from './settings.ts'
import { createSurroundings, shownKinds } from './surroundings.ts'
import type { TurnToolOpener } from './turn-tools.ts'

const turnDigits = 16
const sessionDigits = 12

/** What all turns share. */
export type TurnMaker = {
  prepare(turn: TurnRequest): Promise<TurnParts>
  close(): void
}

type TurnRequest = {
  caller: Caller
  namespace: string
  request: ChatRequest
  origin: ActionOrigin
  /** Of the caller. */
  traceparent?: string | undefined
}

export function createTurnMaker(deps: ChatDeps, settings: ChatSettings): TurnMaker {
  const { ids, clock, records } = deps.ports
  const caches = createLookupCaches(deps.ports, { kinds: shownKinds })
  const models = createModelChooser(deps, caches)
  const words = createSecretWords(deps.ports, caches)
  const surroundings = createSurroundings(deps, caches, words)
  const buildPrompt = createPromptBuilder()
  let loading: Promise<TurnToolOpener> | undefined

  /** A new session has no history to read. */
  async function recallModel({ namespace, request: { sessionId: name, provider } }: TurnRequest) {
    if (name === undefined || provider !== undefined) return undefined
    return (await records.sessions.get({ namespace, name }))?.answeredBy
  }

  async function lookAround(turn: TurnRequest) {
    const { caller, namespace, request } = turn
    loading ??= loadTools().then(({ createTurnToolOpener }) => createTurnToolOpener(deps, caches, words))
    return Promise.all([
      recallModel(turn).then((remembered) => models.choose({ caller, namespace, request, settings, remembered })),
      surroundings.read(caller, namespace),
      listBuiltin(caller, namespace),
      loading,
    ])
  }

  async function listBuiltin(caller: Caller, namespace: string) {
    const tools = await deps.builtinTools.list()
    return keepUsable(deps.ports, { caller, namespace, tools, serviceTool: 'builtIn' })
  }

  async function prepare(turn: TurnRequest): Promise<TurnParts> {
    const { caller, namespace, request, origin } = turn
    // One call for both ids: random bytes are expensive.
    const random = ids.hex(turnDigits + sessionDigits)
    const id = random.slice(0, turnDigits)
    const key = { namespace, name: request.sessionId ?? `chat-session-${random.slice(turnDigits)}` }
    await requireAccess(deps.ports, caller, { verb: 'create', kind: 'Session', ...key })
    // A session that the turn makes has no tasks yet.
    await requireActingInSession(caller, { namespace, session: request.sessionId }, deps)
    const [{ choices, agent }, around, builtinTools, opener] = await lookAround(turn)
    const payer = await findBilledCaller(deps.ports.resources, caller)
    const billedTo = { namespace, agent: agent?.metadata.name, session: key.name, caller: payer }
    await deps.ledger.require(billedTo)
    const redact = await words.redactorFor(namespace, choices)
    const manages = asksToManage(request.message)
    const instructions = request.systemPrompt
    const { maxTasksPerTurn: maxTasks, toolTimeoutMs } = settings
    const traced: TraceOrigin = { uid: id, traceparent: turn.traceparent }
    const orchestration = bindVerbs(deps, settings, {
      caller: { ...caller, origin: { ...origin, session: key.name } },
      key,
      trace: traced,
    })
    const tools = await opener.open({ caller, namespace, manages, toolTimeoutMs, trace: traced }, orchestration)
    const holding = { sessions: records.sessions, clock }
    return {
      id,
      traceOrigin: traced,
      caller,
      request,
      settings,
      choices,
      agent,
      redact,
      system: buildPrompt({ namespace, surroundings: around, builtinTools, manages, maxTasks, agent, instructions }),
      tools: tools.host,
      close: tools.close,
      orchestration,
      lease: await leaseSession(holding, key, id),
      billedTo,
    }
  }

  return { prepare, close: caches.close }
}

/** Created with the first turn, so that a service that nobody chats with starts faster. */
function loadTools() {
  return import('./turn-tools.ts')
}

function bindVerbs(
  deps: ChatDeps,
  { maxTasksPerTurn: maxTasks, blockedNamespaces }: ChatSettings,
  { caller, key, trace }: { caller: Caller; key: SessionKey; trace: TraceOrigin },
): BoundOrchestration {
  // Created with the first task: most turns create none.
  let prefix: string | undefined
  return bindOrchestration(deps, {
    caller,
    namespace: key.namespace,
    blockedNamespaces,
    labels: { 'svc.ai/created-by': 'orchestrator', 'svc.ai/chat-session': key.name },
    nameTask() {
      prefix ??= prefixTaskNames(key.name)
      return `${prefix}-${deps.ports.ids.hex(randomDigits)}`
    },
    maxTasks,
    trace,
  })
}

const randomDigits = 10
// A task with a schedule has a name of at most 52 characters.
const maxTaskNameLength = 52

/** `chat-<session>-<8 hex of its hash>`: readable, and unique even where the session name is cut. */
export function prefixTaskNames(session: string): string {
  const hash = createHash('sha256').update(session).digest('hex').slice(0, 8)
  const readable = session
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^(chat-)?-*/, '')
  const room = maxTaskNameLength - 'chat-'.length - hash.length - randomDigits - 2
  return `chat-${trimTrailing(readable.slice(0, room), '-')}-${hash}`
}

export type ChatDeps = UsecaseDeps & Omit<OrchestrationDeps, keyof UsecaseDeps> & { sessions: SessionUsecases }

export type TurnParts = {
  id: string
  /** From which the ids of its trace follow. */
  traceOrigin: TraceOrigin
  caller: Caller
  request: ChatRequest
  settings: ChatSettings
  choices: ModelChoice[]
  agent: Agent | undefined
  system: string
  tools: ToolHost
  /** Ends what its tools have kept open. Never rejects. */
  close(): Promise<void>
  /** Removed from tool results. */
  redact: (text: string) => string
  orchestration: BoundOrchestration
  lease: SessionLease
  /** Who the calls are charged to. */
  billedTo: BudgetSubject
}

export type TurnEnding = {
  text: string
  /** What the loop itself says at the end. */
  closing: string
  state: LoopState | undefined
  historyBytes: number
  failure?: SvcError
}

const verb =
  'creat(?:e|es|ing)|mak(?:e|es|ing)|new|add(?:s|ing)?|updat(?:e|es|ing)|chang(?:e|es|ing)|edit(?:s|ing)?|delet(?:e|es|ing)|remov(?:e|es|ing)|set up'
const noun = 'agents?|tools?|sessions?|monitors?'
/** The number of words allowed between the verb and its object. */
const nearby = '(?:[^\\s.!?;]+\\s+){0,6}?'

// "create a small agent", and "the agent should be deleted"; not "create a report with every tool you have, ...".
const verbFirst = new RegExp(`\\b(?:${verb})\\s+${nearby}[^\\s.!?;]*\\b(?:${noun})\\b`, 'i')
const nounFirst = new RegExp(
  `\\b(?:${noun})\\s+${nearby}(?:${verb}|created|made|added|updated|changed|edited|deleted|removed)\\b`,
  'i',
)

// Most messages contain none of these words; this cheap test finds those.
const anyNoun = /agent|tool|session|monitor/i

export function asksToManage(message: string): boolean {
  if (!anyNoun.test(message)) return false
  return verbFirst.test(message) || nounFirst.test(message)
}
