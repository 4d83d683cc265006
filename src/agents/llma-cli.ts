// Claude Code: how it is started (NAME-014), what `--output-format stream-json` says, and the file of a session. Beside what was
// said that file records the system prompt and the tools that were offered, which a resumed run offers again whatever its own
// limits are; so only the conversation is carried on.
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

/** They would wait for a time after the run. */
const neverOffered = ['CronCreate', 'ScheduleWakeup']
/** What needs a permission, beside edits in the work folder. */
const onRequest = ['WebFetch', 'WebSearch']

const promptFile = 'system-prompt.md'

/** `Bash(git log:*)` -> `Bash` */
function nameOf(rule: string): string {
  return rule.replace(/\(.*$/s, '')
}

const readers = ['Read', 'Glob', 'Grep', 'LS', 'NotebookRead']

/** Each list is one argument, so that none of its words can be read as an option. */
function toolArgs({ allowedTools, disallowedTools = [], allowBash, readFolders }: AgentJob): string[] {
  const refused = [...neverOffered, ...disallowedTools, ...(allowBash ? [] : ['Bash'])]
  const listed = allowedTools ?? [...onRequest, ...(allowBash ? ['Bash'] : [])]
  // Named without a folder they would be allowed everywhere; in the work folder nobody is asked for them.
  const allowed = listed.filter((name) => !readers.includes(name))
  const own = allowedTools?.map(nameOf).filter((name) => !name.startsWith('mcp__'))
  return [
    ...(own === undefined ? [] : [`--tools=${[...new Set(own)].join(',')}`]),
    `--allowedTools=${[...allowed, ...readFolders.map((folder) => `Read(/${folder}/**)`)].join(',')}`,
    `--disallowedTools=${refused.join(',')}`,
  ]
}

/** What lies in the work folder can start programs by hooks and servers. */
function folderArgs({ trustsFolder }: AgentJob): string[] {
  return trustsFolder
    ? ['--setting-sources=project', `--settings=${JSON.stringify({ enableAllProjectMcpServers: true })}`]
    : ['--setting-sources=', '--strict-mcp-config']
}

function listArgs(job: AgentJob): string[] {
  return [
    '-p',
    '--output-format=stream-json',
    '--verbose',
    `--model=${job.model}`,
    `--max-turns=${job.maxTurns}`,
    // Edits in the work folder are allowed; whatever would ask a person is refused.
    '--permission-mode=acceptEdits',
    // Older ones refuse whatever would ask a person by themselves.
    ...knownOptions(job.version, { '--permission-prompts=none': '2.1.263' }),
    ...folderArgs(job),
    ...toolArgs(job),
    ...(job.reasoningEffort === undefined ? [] : [`--effort=${job.reasoningEffort}`]),
    ...(job.systemPrompt === undefined ? [] : [`--append-system-prompt-file=${job.home}/${promptFile}`]),
    ...(job.resume === undefined ? [] : [`--resume=${job.resume}`]),
  ]
}

const editing = { Edit: 'file_path', MultiEdit: 'file_path', NotebookEdit: 'notebook_path', Write: 'file_path' }

const Block = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('thinking'), thinking: z.string() }),
  z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown() }),
  z.object({
    type: z.literal('tool_result'),
    tool_use_id: z.string(),
    is_error: z.boolean().optional(),
    content: z.unknown(),
  }),
  z.object({ type: z.unknown() }).transform(() => ({ type: 'other' as const })),
])
type Block = z.infer<typeof Block>

const Message = z.object({
  type: z.enum(['assistant', 'user']),
  message: z.object({ id: z.string().optional(), content: z.union([z.string(), z.array(Block)]) }),
  /** Of a subagent. */
  parent_tool_use_id: z.string().nullish(),
})
type Message = z.infer<typeof Message>

const Result = z.object({
  type: z.literal('result'),
  subtype: z.string(),
  is_error: z.boolean(),
  result: z.string().optional(),
  errors: z.array(z.string()).optional(),
})

const Line = z.union([
  z.object({ type: z.literal('system'), subtype: z.literal('init'), session_id: z.string() }),
  z.object({
    type: z.literal('system'),
    subtype: z.literal('permission_denied'),
    tool_name: z.string(),
    message: z.string().default('not allowed'),
  }),
  z.object({
    type: z.literal('system'),
    subtype: z.literal('api_retry'),
    attempt: z.number(),
    max_retries: z.number(),
    error: z.string().default('no answer'),
  }),
  Message,
  Result,
])
type Line = z.infer<typeof Line>

function readBlock(block: Block): AgentEvent[] {
  switch (block.type) {
    case 'text':
      return [block]
    case 'tool_use':
      return [
        {
          type: 'tool_started',
          id: block.id,
          name: block.name,
          input: block.input,
          ...findEdits(editing, block.name, block.input),
        },
      ]
    case 'thinking':
      return readThinking(block.thinking)
    case 'tool_result': {
      const { tool_use_id: id, is_error: isError = false, content } = block
      return [{ type: 'tool_ended', id, isError, ...readOutput(content) }]
    }
    case 'other':
      return []
  }
}

/** A run whose vendor cannot be reached ends with the subtype `success`: only `is_error` counts. */
function readResult({ is_error, subtype, result, errors }: z.infer<typeof Result>): AgentEvent {
  if (!is_error) return { type: 'result', text: result ?? '' }
  const message = result ?? errors?.join('; ') ?? subtype
  return { type: 'failed', message, reason: subtype === 'error_max_turns' ? 'turns' : 'other' }
}

function readNotice(notice: Extract<Line, { type: 'system' }>): AgentEvent {
  switch (notice.subtype) {
    case 'init':
      return { type: 'session', id: notice.session_id }
    case 'permission_denied':
      return { type: 'refused', tool: notice.tool_name, message: notice.message }
    case 'api_retry':
      return { type: 'retried', message: `${notice.error}; try ${notice.attempt} of ${notice.max_retries}` }
  }
}

export function createLlmaCliReader(): AgentReader {
  let lastMessage: string | undefined

  /** Each block of an answer comes as a message of its own with the same id. */
  function readMessage({ type, message, parent_tool_use_id }: Message): AgentEvent[] {
    if (typeof message.content === 'string' || typeof parent_tool_use_id === 'string') return []
    const isTurn = type === 'assistant' && message.id !== lastMessage
    if (isTurn) lastMessage = message.id
    return [...(isTurn ? [{ type: 'turn' as const }] : []), ...message.content.flatMap(readBlock)]
  }

  return {
    read(line) {
      const event = parseLine(Line, line)
      if (event === undefined) return nothing
      if (event.type === 'result') return { events: [readResult(event)], isOver: true }
      return { events: event.type === 'system' ? [readNotice(event)] : readMessage(event) }
    },
  }
}

const Entry = z.object({
  type: z.string(),
  uuid: z.string(),
  parentUuid: z.string().nullable(),
  isSidechain: z.boolean().optional(),
  timestamp: z.string().optional(),
  message: z.looseObject({ role: z.string() }).optional(),
  isMeta: z.boolean().optional(),
  isCompactSummary: z.boolean().optional(),
})

const spoken = ['user', 'assistant']

/** Entries name the one before them: what follows an entry that is left out follows the one before it. */
function keepConversation({ id, text }: { id: string; text: string }, workFolder: string): string {
  const before = new Map<string, string | null>()
  const entries = text.split('\n').flatMap((line) => {
    const entry = parseLine(Entry, line)
    if (entry === undefined) return []
    const parentUuid = entry.parentUuid === null ? null : (before.get(entry.parentUuid) ?? null)
    const isKept = spoken.includes(entry.type) && entry.message !== undefined && entry.isSidechain !== true
    before.set(entry.uuid, isKept ? entry.uuid : parentUuid)
    return isKept ? [{ ...entry, parentUuid, sessionId: id, cwd: workFolder }] : []
  })
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
}

function nameFolder(workFolder: string): string {
  return `.claude/projects/${workFolder.replace(/[^A-Za-z0-9]/g, '-')}`
}

export const llmaCliSession: SessionFile = {
  locate: (id, workFolder) => ({ folders: [nameFolder(workFolder)], ending: `${id}.jsonl` }),
  restore: (entries, workFolder) => ({
    [`${nameFolder(workFolder)}/${entries.id}.jsonl`]: keepConversation(entries, workFolder),
  }),
}

export const llmaCli: AgentProgram = {
  command: 'claude',
  install: 'npm install --global @anthropic-ai/claude-code@latest',
  lowest: '2.1.50',
  sessionFile: llmaCliSession,
  prepare(job) {
    const { home, model, proxy, systemPrompt } = job
    const files: Record<string, string> = systemPrompt === undefined ? {} : { [promptFile]: systemPrompt }
    return {
      args: listArgs(job),
      env: {
        CLAUDE_CONFIG_DIR: `${home}/.claude`,
        ANTHROPIC_BASE_URL: `${proxy.url}/llma`,
        ANTHROPIC_AUTH_TOKEN: proxy.token,
        ANTHROPIC_CUSTOM_HEADERS: `${withoutServerTools.name}: ${withoutServerTools.value}`,
        // It has its own ideas about models for small work and for subagents.
        ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
        CLAUDE_CODE_SUBAGENT_MODEL: model,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
        DISABLE_ERROR_REPORTING: '1',
        DISABLE_TELEMETRY: '1',
      },
      files,
      input: job.prompt,
      staysOpen: false,
      reader: createLlmaCliReader(),
    }
  },
}
