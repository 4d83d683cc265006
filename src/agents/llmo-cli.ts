// Codex: how it is started (NAME-015), what `exec --json` says, and the file of a session. It keeps no limits of tools:
// src/rules/agents/programs.ts refuses tasks that set them. The file of a session lies in a folder of the day on which the
// session began, and its id begins with that time. Beside what was said it records instructions and settings, in place of which a
// resumed run heeds no others; so only the conversation is carried on.
import { z } from 'zod'
import {
  type AgentEvent,
  type AgentJob,
  type AgentProgram,
  type AgentReader,
  type AgentReading,
  nothing,
  type SessionFile,
  withoutServerTools,
} from './agent-runtime.ts'
import { createTurns, parseLine, readOutput, readThinking } from './program-output.ts'
import { knownOptions } from './version.ts'

const tokenVariable = 'SVC_AGENT_TOKEN'

/** A JSON string is one of TOML as well, but for DEL and half a surrogate. */
function quote(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll('\u007f', '\\u007f')
}

function composeConfig(job: AgentJob): string {
  const { model, reasoningEffort: effort, systemPrompt, trustsFolder, workFolder, proxy } = job
  return [
    `model = ${quote(model)}`,
    'model_provider = "svc"',
    'approval_policy = "never"',
    // The attempt has a sandbox of its own, within which another one cannot always be made.
    'sandbox_mode = "danger-full-access"',
    'web_search = "disabled"',
    'check_for_update_on_startup = false',
    ...(effort === undefined ? [] : [`model_reasoning_effort = ${quote(effort === 'max' ? 'xhigh' : effort)}`]),
    ...(systemPrompt === undefined ? [] : [`developer_instructions = ${quote(systemPrompt)}`]),
    ...(trustsFolder ? [] : ['project_doc_max_bytes = 0']),
    // They are looked up far away: marketplaces of plugins, and apps of an account that there is not.
    '[features]',
    ...['apps', 'plugins', 'plugin_sharing', 'remote_plugin', 'skill_mcp_dependency_install'].map(
      (name) => `${name} = false`,
    ),
    ...(trustsFolder ? [] : ['hooks = false', 'skip_host_skill_discovery = true']),
    // It lists skills of a folder that it does not trust; those of the agent are in its instructions.
    ...(trustsFolder ? [] : ['[skills]', 'include_instructions = false']),
    '[analytics]',
    'enabled = false',
    '[feedback]',
    'enabled = false',
    // Its commands see neither the token nor where it goes.
    '[shell_environment_policy]',
    'inherit = "core"',
    `[projects.${quote(workFolder)}]`,
    `trust_level = "${trustsFolder ? 'trusted' : 'untrusted'}"`,
    '[model_providers.svc]',
    'name = "svc"',
    `base_url = ${quote(`${proxy.url}/llmo/v1`)}`,
    `env_key = "${tokenVariable}"`,
    'wire_api = "responses"',
    `http_headers = { ${quote(withoutServerTools.name)} = ${quote(withoutServerTools.value)} }`,
    '',
  ].join('\n')
}

const Message = z.object({ type: z.literal('agent_message'), text: z.string() })
const Reasoning = z.object({ type: z.literal('reasoning'), text: z.string() })
const Tool = z.looseObject({
  id: z.string(),
  type: z.enum(['command_execution', 'file_change', 'mcp_tool_call', 'web_search']),
  status: z.string().optional(),
  changes: z.array(z.object({ path: z.string() })).optional(),
  aggregated_output: z.string().optional(),
  result: z.looseObject({ content: z.unknown().optional() }).nullish(),
})
type Tool = z.infer<typeof Tool>

const Item = z.union([Message, Reasoning, Tool])
type Item = z.infer<typeof Item>

const Line = z.union([
  z.object({ type: z.literal('thread.started'), thread_id: z.string() }),
  z.object({ type: z.enum(['item.started', 'item.completed']), item: Item }),
  z.object({ type: z.literal('error'), message: z.string() }),
  z.object({ type: z.literal('turn.completed') }),
  z.object({ type: z.literal('turn.failed'), error: z.object({ message: z.string() }) }),
])

/** What it calls a turn is a whole run. */
export function createLlmoCliReader(): AgentReader {
  const turns = createTurns()
  let answer: string | undefined

  function startTool({
    id,
    type,
    status: _,
    aggregated_output: _output,
    result: _result,
    ...input
  }: Tool): AgentEvent[] {
    const edits = input.changes === undefined ? {} : { edits: input.changes.map(({ path }) => path) }
    return [...turns.startTool(id), { type: 'tool_started', id, name: type, input, ...edits }]
  }

  /** Some are reported only when they are done. */
  function endTool(tool: Tool): AgentEvent[] {
    const started = turns.isRunning(tool.id) ? [] : startTool(tool)
    turns.endTool(tool.id)
    const output = readOutput(tool.aggregated_output ?? tool.result?.content)
    return [...started, { type: 'tool_ended', id: tool.id, isError: tool.status !== 'completed', ...output }]
  }

  function endRun(): AgentReading {
    return { events: answer === undefined ? [] : [{ type: 'result', text: answer }], isOver: true }
  }

  function readMessage({ text }: Extract<Item, { type: 'agent_message' }>): AgentEvent[] {
    answer = text
    return [...turns.speak(), { type: 'text', text }]
  }

  function endItem(item: Item): AgentEvent[] {
    switch (item.type) {
      case 'agent_message':
        return readMessage(item)
      case 'reasoning':
        return [...turns.speak(), ...readThinking(item.text)]
      default:
        return endTool(item)
    }
  }

  const startItem = (item: Item) => ('id' in item ? startTool(item) : [])

  return {
    read(line) {
      const event = parseLine(Line, line)
      switch (event?.type) {
        case 'thread.started':
          return { events: [{ type: 'session', id: event.thread_id }] }
        case 'turn.completed':
          return endRun()
        case 'error':
          return { events: /reconnect|retry/i.test(event.message) ? [{ type: 'retried', message: event.message }] : [] }
        case 'turn.failed':
          return { events: [{ type: 'failed', message: event.error.message, reason: 'other' }], isOver: true }
        case 'item.started':
          return { events: startItem(event.item) }
        case 'item.completed':
          return { events: endItem(event.item) }
        default:
          return nothing
      }
    },
  }
}

const Entry = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('session_meta') }),
  /** What is left of a conversation that was shortened. */
  z.looseObject({ type: z.literal('compacted') }),
  z.looseObject({
    type: z.literal('response_item'),
    payload: z.looseObject({ role: z.string().optional() }),
  }),
])

/** Instructions are given by developers, in the words of its vendor. */
function keepConversation(text: string): string {
  const lines = text.split('\n').filter((line) => {
    const entry = parseLine(Entry, line)
    return entry !== undefined && !(entry.type === 'response_item' && entry.payload.role === 'developer')
  })
  return lines.map((line) => `${line}\n`).join('')
}

const dayMs = 86_400_000

/** `days`: after the one in UTC; the program may count in another time zone. */
function nameFolder(id: string, days = 0): string {
  const ms = Number.parseInt(id.replace('-', '').slice(0, 12), 16)
  const day = new Date((Number.isNaN(ms) ? 0 : ms) + days * dayMs).toISOString().slice(0, 10)
  return `.codex/sessions/${day.replaceAll('-', '/')}`
}

/** It looks a session up by the id at the end of the name. */
const anyTime = '2000-01-01T00-00-00'

export const llmoCliSession: SessionFile = {
  locate: (id) => ({ folders: [-1, 0, 1].map((days) => nameFolder(id, days)), ending: `-${id}.jsonl` }),
  restore: ({ id, text }) => ({ [`${nameFolder(id)}/rollout-${anyTime}-${id}.jsonl`]: keepConversation(text) }),
}

export const llmoCli: AgentProgram = {
  command: 'codex',
  install: 'npm install --global @openai/codex@latest',
  lowest: '0.120.0',
  sessionFile: llmoCliSession,
  prepare(job) {
    const session = job.resume === undefined ? [] : ['resume', job.resume]
    // Older ones read no rules of a folder that is not trusted.
    const ignored = knownOptions(job.version, { '--ignore-rules': '0.130.0' })
    return {
      args: ['exec', '--json', '--skip-git-repo-check', ...ignored, ...session, '-'],
      env: { CODEX_HOME: `${job.home}/.codex`, [tokenVariable]: job.proxy.token },
      files: { '.codex/config.toml': composeConfig(job) },
      input: job.prompt,
      staysOpen: false,
      reader: createLlmoCliReader(),
    }
  },
}
