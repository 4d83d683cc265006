// GitHub Copilot CLI with a provider of its own: how it is started, what `--output-format json` says, and the file of a session.
// Only the conversation is carried on: limits come from the arguments of each run.
import { z } from 'zod'
import {
  type AgentEvent,
  type AgentJob,
  type AgentProgram,
  type AgentReader,
  nothing,
  type SessionFile,
  withoutServerTools,
} from './agent-runtime.ts'
import { findEdits, parseLine, readOutput, readThinking } from './program-output.ts'
import { knownOptions } from './version.ts'

const tokenVariable = 'COPILOT_PROVIDER_BEARER_TOKEN'

/** An empty list would offer everything; no tool has this name. */
const noTool = 'none'

/** It heeds one of these two options: what is available is not excluded. */
function offerArgs(allowed: string[] | undefined, excluded: string[]): string[] {
  const left = allowed?.filter((name) => !excluded.includes(name))
  if (left !== undefined) return [`--available-tools=${left.join(',') || noTool}`]
  return excluded.length === 0 ? [] : [`--excluded-tools=${excluded.join(',')}`]
}

/** Each list is one argument, so that none of its words can be read as an option. */
function toolArgs({ allowedTools, disallowedTools = [], allowBash }: AgentJob): string[] {
  const excluded = [...disallowedTools, ...(allowBash ? [] : ['bash'])]
  return [
    // Who is not asked must have been allowed: what is offered is the limit.
    '--allow-all-tools',
    ...offerArgs(allowedTools, excluded),
    ...(allowBash ? [] : ['--deny-tool=shell']),
  ]
}

const editing = { create: 'path', edit: 'path', str_replace_editor: 'path' }

const Line = z.discriminatedUnion('type', [
  z.object({ type: z.literal('assistant.turn_start') }),
  z.object({ type: z.literal('assistant.reasoning'), data: z.object({ content: z.string() }) }),
  z.object({ type: z.literal('assistant.message'), data: z.object({ content: z.string() }) }),
  z.object({
    type: z.literal('tool.execution_start'),
    data: z.object({ toolCallId: z.string(), toolName: z.string(), arguments: z.unknown() }),
  }),
  z.object({
    type: z.literal('tool.execution_complete'),
    data: z.object({
      toolCallId: z.string(),
      success: z.boolean(),
      result: z.object({ content: z.unknown().optional() }).nullish(),
      error: z.object({ message: z.string() }).nullish(),
    }),
  }),
  z.object({ type: z.literal('session.error'), data: z.object({ message: z.string() }) }),
  z.object({ type: z.literal('result'), sessionId: z.string(), exitCode: z.number() }),
])
type Line = z.infer<typeof Line>

export function createCodehostCliReader(): AgentReader {
  let answer: string | undefined
  let error = 'The program gave no reason.'

  /** Only its last line names the session. */
  function endRun({ sessionId, exitCode }: Extract<Line, { type: 'result' }>): AgentEvent[] {
    const session = { type: 'session' as const, id: sessionId }
    if (exitCode !== 0) return [session, { type: 'failed', message: error, reason: 'other' }]
    return answer === undefined ? [session] : [session, { type: 'result', text: answer }]
  }

  return {
    read(line) {
      const event = parseLine(Line, line)
      switch (event?.type) {
        case undefined:
          return nothing
        case 'assistant.turn_start':
          return { events: [{ type: 'turn' }] }
        case 'assistant.reasoning':
          return { events: readThinking(event.data.content) }
        case 'assistant.message':
          if (event.data.content === '') return nothing
          answer = event.data.content
          return { events: [{ type: 'text', text: answer }] }
        case 'tool.execution_start': {
          const { toolCallId: id, toolName: name, arguments: input } = event.data
          return { events: [{ type: 'tool_started', id, name, input, ...findEdits(editing, name, input) }] }
        }
        case 'tool.execution_complete': {
          const { toolCallId: id, success, result, error: failure } = event.data
          return {
            events: [{ type: 'tool_ended', id, isError: !success, ...readOutput(result?.content ?? failure?.message) }],
          }
        }
        case 'session.error':
          error = event.data.message
          return nothing
        case 'result':
          return { events: endRun(event), isOver: true }
      }
    },
  }
}

const Entry = z.object({ type: z.string().regex(/^(session\.start$|(user|assistant|tool)\.)/) })

function keepConversation(text: string): string {
  const lines = text.split('\n').filter((line) => parseLine(Entry, line) !== undefined)
  return lines.map((line) => `${line}\n`).join('')
}

const file = 'events.jsonl'
const nameFolder = (id: string) => `.copilot/session-state/${id}`

export const codehostCliSession: SessionFile = {
  locate: (id) => ({ folders: [nameFolder(id)], ending: file }),
  restore: ({ id, text }) => ({ [`${nameFolder(id)}/${file}`]: keepConversation(text) }),
}

export const codehostCli: AgentProgram = {
  command: 'copilot',
  install: 'npm install --global @github/copilot@latest',
  lowest: '1.0.88',
  sessionFile: codehostCliSession,
  prepare(job) {
    const { home, model, prompt, proxy, readFolders, reasoningEffort, resume, systemPrompt, trustsFolder } = job
    return {
      args: [
        '--output-format=json',
        '--no-auto-update',
        '--no-remote',
        '--no-ask-user',
        '--disable-builtin-mcps',
        // Older ones send none while they are offline.
        ...knownOptions(job.version, { '--disable-client-telemetry': '1.0.102' }),
        '--log-level=none',
        '--stream=off',
        `--secret-env-vars=${tokenVariable}`,
        trustsFolder ? '--trust-folder' : '--no-custom-instructions',
        ...readFolders.map((folder) => `--add-dir=${folder}`),
        ...toolArgs(job),
        ...(reasoningEffort === undefined ? [] : [`--reasoning-effort=${reasoningEffort}`]),
        ...(resume === undefined ? [] : [`--resume=${resume}`]),
      ],
      env: {
        COPILOT_HOME: `${home}/.copilot`,
        COPILOT_OFFLINE: 'true',
        COPILOT_MODEL: model,
        COPILOT_PROVIDER_TYPE: 'openai',
        COPILOT_PROVIDER_BASE_URL: `${proxy.url}/llmo/v1`,
        COPILOT_PROVIDER_HEADERS: `${withoutServerTools.name}: ${withoutServerTools.value}`,
        [tokenVariable]: proxy.token,
      },
      files: {},
      // It has no other place for instructions that the repository's own would not share.
      input: systemPrompt === undefined ? prompt : `${systemPrompt}\n\n${prompt}`,
      staysOpen: false,
      reader: createCodehostCliReader(),
    }
  },
}
