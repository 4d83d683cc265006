// Any agent that speaks the Agent Client Protocol, by its command: the client's side of one run says hello, opens a session
// and prompts once. The protocol knows neither a model nor limits: the service counts turns, and the rules of the task answer
// what the agent asks for; what it does without asking is its own choice, within the sandbox of the attempt.
import { BoundedMap } from '../../lib/bounded-map.ts'
import { dropUndefined } from '../../lib/json.ts'
import {
  type AgentEvent,
  type AgentJob,
  type AgentProgram,
  type AgentQuestion,
  type AgentReader,
  type AgentReading,
  answerTooLong,
  maxAnswerLength,
  nothing,
  withoutServerTools,
} from '../agent-runtime.ts'
import { createTurns, parseLine, readOutput, readThinking } from '../program-output.ts'
import { repositoryNames } from '../repository-names.ts'
import {
  AcpMessage,
  type AcpToolCall,
  chooseOption,
  findObstacle,
  Initialized,
  needsApproval,
  Opened,
  PermissionRequest,
  Prompted,
  protocolVersion,
  type Update,
  writeMessage,
} from './protocol.ts'

const ids = { initialize: 0, open: 1, prompt: 2 }
const methodMissing = -32601
/** Calls that are remembered: one that comes again is reported as a new one. */
const maxCalls = 1000

/** What running calls are made with may be long; it is kept of so many at once, and only where people are asked. */
const maxInputs = 16
/** Files and commands are the agent's own affair. */
const capabilities = { fs: { readTextFile: false, writeTextFile: false }, terminal: false }

export function writeInitialize(): string {
  const params = {
    protocolVersion,
    clientCapabilities: capabilities,
    clientInfo: { name: 'svc', version: '1' },
  }
  return writeMessage({ id: ids.initialize, method: 'initialize', params })
}

function failRun(message: string, reason: 'turns' | 'other' = 'other'): AgentReading {
  return { events: [{ type: 'failed', message, reason }], isOver: true }
}

function openSession({ resume, workFolder }: AgentJob, result: unknown): AgentReading {
  const { agentCapabilities } = Initialized.parse(result)
  const params = { cwd: workFolder, mcpServers: [] }
  if (resume === undefined) return { events: [], reply: writeMessage({ id: ids.open, method: 'session/new', params }) }
  const canResume = agentCapabilities.sessionCapabilities?.resume !== undefined
  if (!canResume && agentCapabilities.loadSession !== true)
    return failRun('The agent cannot go on with an earlier session; start the task without sessionRef.')
  const method = canResume ? 'session/resume' : 'session/load'
  return { events: [], reply: writeMessage({ id: ids.open, method, params: { ...params, sessionId: resume } }) }
}

function composePrompt({ prompt, systemPrompt }: AgentJob): object[] {
  return [systemPrompt, prompt].filter((text) => text !== undefined).map((text) => ({ type: 'text', text }))
}

export function createAcpReader(job: AgentJob): AgentReader {
  const turns = createTurns()
  const calls = new BoundedMap<string, AcpToolCall>({ max: maxCalls })
  const inputs = new BoundedMap<string, unknown>({ max: maxInputs })
  let isPrompted = false
  let pieces = ''
  let isThinking = false

  function promptSession(result: unknown): AgentReading {
    const id = Opened.parse(result)?.sessionId ?? job.resume ?? ''
    isPrompted = true
    const params = { sessionId: id, prompt: composePrompt(job) }
    const reply = writeMessage({ id: ids.prompt, method: 'session/prompt', params })
    return { events: [{ type: 'session', id }], reply }
  }

  /** Text comes in pieces. */
  function endText(): AgentEvent[] {
    const text = pieces
    pieces = ''
    if (isThinking) return readThinking(text)
    return text === '' ? [] : [{ type: 'text', text }]
  }

  function remember({ rawInput, content: _, ...call }: AcpToolCall): void {
    calls.set(call.toolCallId, call)
    const isAsked = rawInput !== undefined && job.approvalRequiredTools !== undefined
    if (isAsked) inputs.set(call.toolCallId, rawInput)
  }

  function startTool({ toolCallId: id, title, kind, rawInput: input, locations }: AcpToolCall): AgentEvent[] {
    const edits = kind === 'edit' && locations != null ? { edits: locations.map(({ path }) => path) } : {}
    return [...turns.startTool(id), { type: 'tool_started', id, name: title ?? kind ?? 'tool', input, ...edits }]
  }

  function followTool(part: AcpToolCall): AgentEvent[] {
    const id = part.toolCallId
    const call = { ...calls.get(id), ...Object.fromEntries(Object.entries(part).filter(([, value]) => value != null)) }
    const { status } = call as AcpToolCall
    const isNew = !calls.has(id)
    remember(call as AcpToolCall)
    const started = isNew ? startTool(call as AcpToolCall) : []
    const isEnd = (status === 'completed' || status === 'failed') && turns.isRunning(id)
    if (isEnd) turns.endTool(id)
    if (isEnd) inputs.delete(id)
    const ended = { type: 'tool_ended' as const, id, isError: status === 'failed', ...readOutput(part.content) }
    return isEnd ? [...started, ended] : started
  }

  /** A session that is loaded is replayed from its beginning. */
  function follow(update: Update): AgentEvent[] {
    if (!isPrompted) return []
    if ('toolCallId' in update) {
      const { sessionUpdate: _, ...call } = update
      return [...endText(), ...followTool(call)]
    }
    return addText(update.content.text, update.sessionUpdate === 'agent_thought_chunk')
  }

  function addText(text: string, isThought: boolean): AgentEvent[] {
    const before = isThought === isThinking ? [] : endText()
    isThinking = isThought
    pieces += text
    if (pieces.length > maxAnswerLength) return [answerTooLong]
    return [...before, ...turns.speak()]
  }

  function endRun(result: unknown): AgentReading {
    const { stopReason } = Prompted.parse(result)
    const answer = endText()
    if (stopReason !== 'end_turn') {
      const reason = stopReason === 'max_turn_requests' ? 'turns' : 'other'
      const failed = failRun(`The agent stopped: ${stopReason}.`, reason)
      return { ...failed, events: [...answer, ...failed.events] }
    }
    const text = answer.map((event) => (event.type === 'text' ? event.text : '')).join('')
    return { events: [...answer, { type: 'result', text }], isOver: true }
  }

  function answer(id: string | number, method: string, params: unknown): AgentReading {
    const request = PermissionRequest.safeParse(params).data
    if (method !== 'session/request_permission' || request === undefined)
      return { events: [], reply: writeMessage({ id, error: { code: methodMissing, message: `no ${method} here` } }) }
    const events = followTool(request.toolCall)
    const call = calls.get(request.toolCall.toolCallId) ?? request.toolCall
    const tool = call.title ?? call.kind ?? 'tool'
    const settle = (refusal?: string): AgentReading => {
      const outcome = chooseOption(request, refusal === undefined)
      const refused: AgentEvent[] = refusal === undefined ? [] : [{ type: 'refused', tool, message: refusal }]
      return { events: refused, reply: writeMessage({ id, result: { outcome } }) }
    }
    const before = [...endText(), ...events]
    const obstacle = findObstacle(job, call)
    if (obstacle === undefined && needsApproval(job, call))
      return { events: before, question: { tool, call: describeCall(call), settle } }
    const settled = settle(obstacle)
    return { ...settled, events: [...before, ...settled.events] }
  }

  function describeCall({ toolCallId, title, kind, locations }: AcpToolCall): AgentQuestion['call'] {
    const paths = locations?.map(({ path }) => path)
    return dropUndefined({ title, kind, paths, rawInput: inputs.get(toolCallId) })
  }

  function readResult(id: number, result: unknown): AgentReading {
    if (id === ids.initialize) return openSession(job, result)
    if (id === ids.open) return promptSession(result)
    return id === ids.prompt ? endRun(result) : nothing
  }

  function readMessage(message: AcpMessage): AgentReading {
    if ('error' in message) return failRun(message.error.message)
    if (!('method' in message)) return readResult(message.id, message.result)
    if (!('id' in message)) return { events: follow(message.params.update) }
    return answer(message.id, message.method, message.params)
  }

  return {
    read(line) {
      const message = parseLine(AcpMessage, line)
      if (message === undefined) return nothing
      try {
        return readMessage(message)
      } catch {
        return failRun('The agent did not answer as the protocol says.')
      }
    },
  }
}

/** `command`: the program and its arguments. The door to the models comes in the variables that most programs know. */
export function acpRuntime([command = '', ...args]: string[]): AgentProgram {
  return {
    command,
    install: `see the documentation of ${command}`,
    prepare(job) {
      const { model, proxy } = job
      return {
        args,
        env: {
          SVC_AGENT_MODEL: model,
          OPENAI_BASE_URL: `${proxy.url}/llmo/v1`,
          OPENAI_API_KEY: proxy.token,
          ANTHROPIC_BASE_URL: `${proxy.url}/llma`,
          ANTHROPIC_AUTH_TOKEN: proxy.token,
          ANTHROPIC_CUSTOM_HEADERS: `${withoutServerTools.name}: ${withoutServerTools.value}`,
        },
        files: {},
        ...(job.trustsFolder ? {} : { refusedNames: repositoryNames }),
        input: writeInitialize(),
        staysOpen: true,
        reader: createAcpReader(job),
      }
    },
  }
}
