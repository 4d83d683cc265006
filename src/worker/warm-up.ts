// A complete run against a local test server while the worker is idle, so that the slow first time is over.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { WorkAssignment } from '../contract/api/tasks/assignment.ts'
import type { ParkWait } from '../contract/api/tasks/parking.ts'
import { onAbort, waitUnlessAborted } from '../lib/abort.ts'
import { createLoopState, type LoopState } from '../llm/loop/loop-state.ts'
import { userText } from '../llm/messages/messages.ts'
import type { WorkerDeps } from './deps.ts'
import type { AttemptOutcome } from './outcome.ts'
import { runAssignment } from './run-assignment.ts'

// Imported as a module, it would load the platform's fetch for one of its exports.
const { createServer } = process.getBuiltinModule('node:http')

const chunk = (part: object) => `data: ${JSON.stringify({ id: 'r', model: 'warm-up', ...part })}\n\n`
const choice = (part: object) => ({ choices: [{ index: 0, ...part }] })
const answer = [
  chunk(choice({ delta: { role: 'assistant', content: '' } })),
  chunk(choice({ delta: { content: 'a word' } })),
  chunk(choice({ delta: {}, finish_reason: 'stop' })),
  chunk({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } }),
  'data: [DONE]\n\n',
].join('')
const call = { id: 'wait', name: 'wait_for_tasks', args: { tasks: ['warm-up'] } }

const wait: ParkWait = { kind: 'tasks', call: '0-1-wait', tasks: [], until: '2000-01-01T00:00:00.000Z' }

/** Of a coordinator that was parked: going on takes the most steps before a model is asked. */
const parked: LoopState = {
  ...createLoopState({
    messages: [userText('Begin.'), { role: 'assistant', content: [{ type: 'tool_use', ...call }] }],
  }),
  iteration: 1,
  llmCalls: 1,
  pending: [{ ...call, repeatable: true, state: 'waiting', wait }],
}

/** What vendor and service answer, by the end of the address. */
const answers: Record<string, unknown> = {
  'GET checkpoints/warm-up/warm-up': [{ kind: 'ai', state: parked }],
  'POST warm-up/warm-up/wait': { completed: true, results: [] },
  'POST warm-up/warm-up/inbox': [],
  'POST leases/warm-up/warm-up': { granted: true, retryAfterMs: 0, tokens: 0 },
}

function findAnswer({ method, url = '' }: IncomingMessage): unknown {
  const end = url.split('?', 1)[0]?.split('/').slice(-3).join('/') ?? ''
  return answers[`${method} ${end}`]
}

/** Plays both the vendor and the service. */
function respond(request: IncomingMessage, response: ServerResponse): void {
  request.resume().once('end', () => {
    if (request.url?.endsWith('/chat/completions')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(answer)
      return
    }
    const found = findAnswer(request)
    if (found === undefined) response.writeHead(204).end()
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(found))
  })
}

function describeWork(url: string): WorkAssignment {
  const provider = {
    namespace: 'warm-up',
    name: 'warm-up',
    type: 'llmo',
    baseUrl: `${url}/v1`,
    trusted: true,
  } as const
  return {
    version: 1,
    api: { url, token: 'of-nobody' },
    task: { namespace: 'warm-up', name: 'warm-up', uid: 'warm-up', attempt: 2, type: 'ai' },
    loop: {
      maxIterations: 2,
      maxToolCalls: 1,
      toolTimeoutMs: 1000,
      systemPrompt: 'Warm up.',
      prompt: 'Begin.',
      tools: [],
    },
    model: { choices: [{ provider, model: 'warm-up' }] },
    coordination: { iteration: 0, coordinates: true },
    customTools: [],
    egress: { allowNetworks: [], deny: [] },
    redact: [],
  }
}

async function listen(): Promise<Server> {
  const server = createServer(respond)
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  return server
}

const closed = new Error('the warm-up is over')

/** Resolves with the outcome of the run, or with undefined when the signal aborts. Nobody else is told. */
export async function runWarmUp(deps: WorkerDeps, signal: AbortSignal): Promise<AttemptOutcome | undefined> {
  const server = await listen()
  const ending = new AbortController()
  const end = () => ending.abort(closed)
  const removeListener = onAbort(signal, end)
  try {
    const { port } = server.address() as AddressInfo
    const text = JSON.stringify(describeWork(`http://127.0.0.1:${port}`))
    return await waitUnlessAborted(runAssignment(text, deps, ending.signal), signal)
  } finally {
    removeListener()
    end()
    server.close()
    server.closeAllConnections()
  }
}
