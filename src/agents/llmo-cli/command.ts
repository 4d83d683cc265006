// Codex: how it is started (NAME-015). It keeps no limits of tools: src/rules/agents/agent-programs.ts refuses tasks that set them.
import { type AgentJob, type AgentRuntime, withoutServerTools } from '../runtime.ts'
import { createLlmoCliReader } from './events.ts'
import { llmoCliSession } from './session.ts'

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
    ...(trustsFolder ? [] : ['hooks = false']),
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

export const llmoCli: AgentRuntime = {
  command: 'codex',
  install: 'npm install --global @openai/codex',
  sessionFile: llmoCliSession,
  prepare(job) {
    const session = job.resume === undefined ? [] : ['resume', job.resume]
    return {
      args: ['exec', '--json', '--skip-git-repo-check', '--ignore-rules', ...session, '-'],
      env: { CODEX_HOME: `${job.home}/.codex`, [tokenVariable]: job.proxy.token },
      files: { '.codex/config.toml': composeConfig(job) },
      input: job.prompt,
      staysOpen: false,
      reader: createLlmoCliReader(),
    }
  },
}
