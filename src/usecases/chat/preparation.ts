// Everything in a turn before its first model call: rights, models, prompt, tools, and the session, which is taken
// last.

import { createHash } from 'node:crypto'
import type { ChatRequest } from '../../contract/api/chat/chat.ts'
import { createCatalogMemory } from '../../lookup/memory.ts'
import type { SessionKey } from '../../ports/chat/sessions.ts'
import type { ActionOrigin, Caller } from '../../ports/identity/identity.ts'
import { identifyCaller } from '../../rules/identity/caller-identity.ts'
import { type BoundOrchestration, bindOrchestration } from '../coordination/orchestration/orchestration.ts'
import { requireAccess } from '../identity/access.ts'
import { keepUsable } from '../tools/usable-tools.ts'
import type { ChatDeps } from './deps.ts'
import { asksToManage } from './intent.ts'
import { createModelChooser } from './models.ts'
import { createPromptBuilder } from './prompt.ts'
import { createSecretWords } from './secret-words.ts'
import { holdSession } from './session-hold.ts'
import type { ChatSettings } from './settings.ts'
import { catalogKinds, createSurroundings } from './surroundings.ts'
import type { TurnParts } from './turn-parts.ts'
import type { TurnToolOpener } from './turn-tools.ts'

const turnDigits = 16
const sessionDigits = 12

/** What all turns share. */
export type TurnMaker = {
  prepare(asked: Asked): Promise<TurnParts>
  close(): void
}

type Asked = { caller: Caller; namespace: string; request: ChatRequest; origin: ActionOrigin }

export function createTurnMaker(deps: ChatDeps, settings: ChatSettings): TurnMaker {
  const { ids, clock, records } = deps.ports
  const memory = createCatalogMemory(deps.ports, { kinds: catalogKinds })
  const models = createModelChooser(deps, memory)
  const words = createSecretWords(deps.ports, memory)
  const surroundings = createSurroundings(deps, memory, words)
  const buildPrompt = createPromptBuilder()
  let loading: Promise<TurnToolOpener> | undefined

  /** A new session has no history to read. */
  async function recallModel({ namespace, request: { sessionId: name, provider } }: Asked) {
    if (name === undefined || provider !== undefined) return undefined
    return (await records.sessions.get({ namespace, name }))?.answeredBy
  }

  async function lookAround(asked: Asked) {
    const { caller, namespace, request } = asked
    loading ??= loadTools().then(({ createTurnToolOpener }) => createTurnToolOpener(deps, memory, words))
    return Promise.all([
      recallModel(asked).then((remembered) => models.choose({ caller, namespace, request, settings, remembered })),
      surroundings.read(caller, namespace),
      listBuiltin(caller, namespace),
      loading,
    ])
  }

  async function listBuiltin(caller: Caller, namespace: string) {
    const tools = await deps.builtinTools.list()
    return keepUsable(deps.ports, { caller, namespace, tools, serviceTool: 'builtIn' })
  }

  async function prepare(asked: Asked): Promise<TurnParts> {
    const { caller, namespace, request, origin } = asked
    // One call for both ids: random bytes are expensive.
    const random = ids.hex(turnDigits + sessionDigits)
    const id = random.slice(0, turnDigits)
    const key = { namespace, name: request.sessionId ?? `chat-session-${random.slice(turnDigits)}` }
    await requireAccess(deps.ports, caller, { verb: 'create', kind: 'Session', ...key })
    const [{ choices, agent }, around, builtinTools, opener] = await lookAround(asked)
    const spender = { namespace, agent: agent?.metadata.name, caller: identifyCaller(caller) }
    await deps.ledger.require(spender)
    const redact = await words.redactorFor(namespace, choices)
    const manages = asksToManage(request.message)
    const instructions = request.systemPrompt
    const { maxTasksPerTurn: maxTasks, toolTimeoutMs } = settings
    const orchestration = bindVerbs(deps, settings, {
      caller: { ...caller, origin: { ...origin, session: key.name } },
      key,
    })
    const tools = await opener.open({ caller, namespace, manages, toolTimeoutMs }, orchestration)
    const holding = { sessions: records.sessions, clock }
    return {
      id,
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
      hold: await holdSession(holding, key, id),
      spender,
    }
  }

  return { prepare, close: memory.close }
}

/** Created with the first turn, so that a service that nobody chats with starts faster. */
function loadTools() {
  return import('./turn-tools.ts')
}

function bindVerbs(
  deps: ChatDeps,
  { maxTasksPerTurn: maxTasks, blockedNamespaces }: ChatSettings,
  { caller, key }: { caller: Caller; key: SessionKey },
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
  })
}

const randomDigits = 10
// A task with a schedule has a name of at most 52 characters.
const longestName = 52

/** `chat-<session>-<8 hex of its hash>`: readable, and unique even where the session name is cut. */
export function prefixTaskNames(session: string): string {
  const hash = createHash('sha256').update(session).digest('hex').slice(0, 8)
  const readable = session
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^(chat-)?-*/, '')
  const room = longestName - 'chat-'.length - hash.length - randomDigits - 2
  return `chat-${readable.slice(0, room).replace(/-+$/, '')}-${hash}`
}
