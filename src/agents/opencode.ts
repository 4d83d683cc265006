// opencode: how it is started (NAME-015), and what `run --format json` says.
import { z } from 'zod'
import {
  type AgentEvent,
  type AgentJob,
  type AgentProgram,
  type AgentReader,
  answerTooLong,
  maxAnswerLength,
  nothing,
  withoutServerTools,
} from './agent-runtime.ts'
import { findEdits, parseLine, readOutput, readThinking } from './program-output.ts'
import { opencodeNames } from './repository-names.ts'

const editing = { edit: 'filePath', write: 'filePath' }

const Tool = z.object({
  tool: z.string(),
  callID: z.string(),
  state: z.object({
    status: z.string(),
    input: z.unknown(),
    error: z.string().optional(),
    output: z.unknown().optional(),
  }),
})
type Tool = z.infer<typeof Tool>

const inSession = { sessionID: z.string() }
const Line = z.discriminatedUnion('type', [
  z.object({ type: z.literal('step_start'), ...inSession }),
  z.object({ type: z.literal('text'), ...inSession, part: z.object({ text: z.string() }) }),
  z.object({ type: z.literal('reasoning'), ...inSession, part: z.object({ text: z.string() }) }),
  z.object({ type: z.literal('tool_use'), ...inSession, part: Tool }),
  z.object({ type: z.literal('step_finish'), ...inSession, part: z.object({ reason: z.string() }) }),
  z.object({
    type: z.literal('error'),
    ...inSession,
    error: z.looseObject({
      name: z.string().optional(),
      data: z.looseObject({ message: z.string().optional() }).optional(),
    }),
  }),
])
type Line = z.infer<typeof Line>

/** Tools are reported once they have ended. */
function readTool({ tool, callID, state }: Tool): AgentEvent[] {
  const isError = state.status !== 'completed'
  const isRefused = isError && /rule which prevents|permission/i.test(state.error ?? '')
  return [
    { type: 'tool_started', id: callID, name: tool, input: state.input, ...findEdits(editing, tool, state.input) },
    { type: 'tool_ended', id: callID, isError, ...readOutput(state.output ?? state.error) },
    ...(isRefused ? [{ type: 'refused' as const, tool, message: state.error ?? '' }] : []),
  ]
}

export function createOpencodeReader(): AgentReader {
  let session: string | undefined
  let answer = ''

  function readPart(event: Line): AgentEvent[] {
    switch (event.type) {
      case 'step_start':
        answer = ''
        return [{ type: 'turn' }]
      case 'text':
        answer += event.part.text
        if (answer.length > maxAnswerLength) return [answerTooLong]
        return [{ type: 'text', text: event.part.text }]
      case 'reasoning':
        return readThinking(event.part.text)
      case 'tool_use':
        return readTool(event.part)
      case 'step_finish':
        return event.part.reason === 'tool-calls' ? [] : [{ type: 'result', text: answer }]
      case 'error': {
        const { name, data } = event.error
        return [{ type: 'failed', message: data?.message ?? name ?? 'unknown error', reason: 'other' }]
      }
    }
  }

  return {
    read(line) {
      const event = parseLine(Line, line)
      if (event === undefined) return nothing
      const isNew = session !== event.sessionID
      session = event.sessionID
      return { events: [...(isNew ? [{ type: 'session' as const, id: session }] : []), ...readPart(event)] }
    },
  }
}

const tokenVariable = 'SVC_AGENT_TOKEN'
const promptFile = 'instructions.md'

/** To its rules whatever changes files is one thing, `edit`. */
const editTools = ['write', 'apply_patch']

function nameRight(tool: string): string {
  return editTools.includes(tool) ? 'edit' : tool
}

/** The last rule that fits a tool counts. */
function composePermissions(job: AgentJob): Record<string, string | Record<string, string>> {
  const { allowedTools, disallowedTools = [], allowBash, readFolders } = job
  const named = (names: string[], action: string) => Object.fromEntries(names.map((name) => [nameRight(name), action]))
  return {
    '*': allowedTools === undefined ? 'allow' : 'deny',
    ...named(allowedTools ?? [], 'allow'),
    // It would ask a person.
    question: 'deny',
    external_directory: {
      '*': 'deny',
      ...named(
        readFolders.map((folder) => `${folder}/*`),
        'allow',
      ),
    },
    ...named(disallowedTools, 'deny'),
    ...(allowBash ? {} : { bash: 'deny' }),
  }
}

function composeConfig(job: AgentJob): unknown {
  const { model, maxTurns, proxy, reasoningEffort, systemPrompt, trustsFolder, home } = job
  const provider = {
    npm: '@ai-sdk/openai-compatible',
    name: 'svc',
    options: {
      baseURL: `${proxy.url}/llmo/v1`,
      apiKey: `{env:${tokenVariable}}`,
      headers: { [withoutServerTools.name]: withoutServerTools.value },
    },
    models: { [model]: { name: model, ...(reasoningEffort && { options: { reasoningEffort } }) } },
  }
  return {
    autoupdate: false,
    share: 'disabled',
    model: `svc/${model}`,
    small_model: `svc/${model}`,
    enabled_providers: ['svc'],
    provider: { svc: provider },
    permission: composePermissions(job),
    agent: { build: { steps: maxTurns } },
    // They start programs of the repository.
    ...(trustsFolder ? {} : { formatter: false, lsp: false }),
    ...(systemPrompt === undefined ? {} : { instructions: [`${home}/${promptFile}`] }),
  }
}

const isOn = '1'

const withoutProject = {
  OPENCODE_DISABLE_PROJECT_CONFIG: isOn,
  OPENCODE_DISABLE_CLAUDE_CODE: isOn,
  OPENCODE_DISABLE_EXTERNAL_SKILLS: isOn,
}

const modelsFile = 'models.json'

/**
 * What it would otherwise do at each start, for seconds: install its library for plugins, which it takes for done with these,
 * and read a list of all models of all vendors.
 */
const savings: Record<string, string> = {
  '.config/opencode/node_modules/README': '',
  '.config/opencode/package-lock.json': JSON.stringify({
    packages: { '': { dependencies: { '@opencode-ai/plugin': '*' } } },
  }),
  [modelsFile]: '{}',
}

export const opencode: AgentProgram = {
  command: 'opencode',
  install: 'npm install --global opencode-ai@latest',
  lowest: '1.14.34',
  prepare(job) {
    const files = job.systemPrompt === undefined ? savings : { ...savings, [promptFile]: job.systemPrompt }
    return {
      args: [
        'run',
        '--format=json',
        // Without one it asks the model for it.
        '--title=task',
        ...(job.trustsFolder ? [] : ['--pure']),
        ...(job.resume === undefined ? [] : [`--session=${job.resume}`]),
      ],
      env: {
        // Of all sources this one has the highest precedence: a repository's own settings cannot change it.
        OPENCODE_CONFIG_CONTENT: JSON.stringify(composeConfig(job)),
        [tokenVariable]: job.proxy.token,
        // Should it install something after all.
        npm_config_offline: 'true',
        OPENCODE_MODELS_PATH: `${job.home}/${modelsFile}`,
        // Logins at vendors that are not asked.
        OPENCODE_DISABLE_DEFAULT_PLUGINS: isOn,
        OPENCODE_DISABLE_AUTOUPDATE: isOn,
        OPENCODE_DISABLE_LSP_DOWNLOAD: isOn,
        OPENCODE_DISABLE_MODELS_FETCH: isOn,
        OPENCODE_DISABLE_SHARE: isOn,
        ...(job.trustsFolder ? {} : withoutProject),
      },
      files,
      ...(job.trustsFolder ? {} : { refusedNames: opencodeNames }),
      input: job.prompt,
      staysOpen: false,
      reader: createOpencodeReader(),
    }
  },
}
