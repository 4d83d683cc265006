// Claude Code: how it is started (NAME-014).
import { type AgentJob, type AgentRuntime, withoutServerTools } from '../runtime.ts'
import { createLlmaCliReader } from './events.ts'
import { llmaCliSession } from './session.ts'

/** They would wait for a time after the run. */
const neverOffered = ['CronCreate', 'ScheduleWakeup']
/** What needs a permission, beside edits in the work folder. */
const onRequest = ['WebFetch', 'WebSearch']

const promptFile = 'system-prompt.md'

/** `Bash(git log:*)` -> `Bash` */
function nameOf(rule: string): string {
  return rule.replace(/\(.*$/s, '')
}

/** Each list is one argument, so that none of its words can be read as an option. */
function toolArgs({ allowedTools, disallowedTools = [], allowBash, readFolders }: AgentJob): string[] {
  const refused = [...neverOffered, ...disallowedTools, ...(allowBash ? [] : ['Bash'])]
  const allowed = allowedTools ?? [...onRequest, ...(allowBash ? ['Bash'] : [])]
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
    '--permission-prompts=none',
    ...folderArgs(job),
    ...toolArgs(job),
    ...(job.reasoningEffort === undefined ? [] : [`--effort=${job.reasoningEffort}`]),
    ...(job.systemPrompt === undefined ? [] : [`--append-system-prompt-file=${job.home}/${promptFile}`]),
    ...(job.resume === undefined ? [] : [`--resume=${job.resume}`]),
  ]
}

export const llmaCli: AgentRuntime = {
  command: 'claude',
  install: 'npm install --global @anthropic-ai/claude-code',
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
