// GitHub Copilot CLI with a provider of its own: how it is started.
import { type AgentJob, type AgentRuntime, withoutServerTools } from '../runtime.ts'
import { createCodehostCliReader } from './events.ts'
import { codehostCliSession } from './session.ts'

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

export const codehostCli: AgentRuntime = {
  command: 'copilot',
  install: 'npm install --global @github/copilot',
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
        '--disable-client-telemetry',
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
