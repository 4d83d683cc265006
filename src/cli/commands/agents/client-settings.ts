// What coding clients must be told to ask this service: variables, and arguments where a client heeds none.
import { quoteWord, quoteWords } from '../../../lib/shell-words.ts'

export const clientNames = ['claude', 'codex', 'opencode', 'pi'] as const
export type ClientName = (typeof clientNames)[number]

/** A service as a client uses it. */
export type ClientTarget = {
  /** Without a path. */
  url: string
  token: string
  /** `provider/model`, as the proxies know it. */
  model: string
  /** More of them that a person may change to. */
  others: readonly string[]
}

export type ClientSettings = {
  env: Record<string, string>
  /** Before those of the person who types them. */
  args: string[]
}

type Client = {
  /** The program, looked up in PATH. */
  command: string
  install: string
  /** Variables of another vendor or account, which would win over those of the settings. */
  removed: readonly string[]
  /** A file that it needs, and that holds no secret. */
  file?: { name: string; text: string }
  /** `file`: where that one is. */
  describe(target: ClientTarget, file: string): ClientSettings
}

/** The clients have tools of their own. */
const ownTools = { name: 'X-Svc-Tools', value: 'disabled' }
const tokenVariable = 'SVC_CLIENT_TOKEN'

function describeClaude({ url, token, model }: ClientTarget): ClientSettings {
  const models = ['HAIKU', 'SONNET', 'OPUS'].map((size) => [`ANTHROPIC_DEFAULT_${size}_MODEL`, model])
  return {
    env: {
      ANTHROPIC_BASE_URL: `${url}/llma`,
      ANTHROPIC_AUTH_TOKEN: token,
      ANTHROPIC_MODEL: model,
      ...Object.fromEntries(models),
      CLAUDE_CODE_SUBAGENT_MODEL: model,
      ANTHROPIC_CUSTOM_HEADERS: `${ownTools.name}: ${ownTools.value}`,
    },
    args: [],
  }
}

/** A value of `-c` is TOML; a JSON string is one of it. */
function describeCodex({ url, token, model }: ClientTarget): ClientSettings {
  const provider = {
    name: 'svc',
    base_url: `${url}/llmo/v1`,
    env_key: tokenVariable,
    wire_api: 'responses',
    [`http_headers.${ownTools.name}`]: ownTools.value,
  }
  const values = Object.entries(provider).map(([key, value]) => `model_providers.svc.${key}=${JSON.stringify(value)}`)
  const all = ['model_provider="svc"', `model=${JSON.stringify(model)}`, ...values]
  return { env: { [tokenVariable]: token }, args: all.flatMap((value) => ['-c', value]) }
}

/** Of all its sources this variable has the highest precedence, and the others stay. */
function describeOpencode({ url, token, model, others }: ClientTarget): ClientSettings {
  const config = {
    model: `svc/${model}`,
    small_model: `svc/${model}`,
    provider: {
      svc: {
        npm: '@ai-sdk/openai-compatible',
        name: 'svc',
        options: {
          baseURL: `${url}/llmo/v1`,
          apiKey: `{env:${tokenVariable}}`,
          headers: { [ownTools.name]: ownTools.value },
        },
        models: Object.fromEntries([model, ...others].map((name) => [name, { name }])),
      },
    },
  }
  return { env: { [tokenVariable]: token, OPENCODE_CONFIG_CONTENT: JSON.stringify(config) }, args: [] }
}

const piVariable = 'SVC_PI_PROVIDER'

/** Its models are no variables, and its own folder of settings stays. */
function describePi({ url, token, model, others }: ClientTarget, file: string): ClientSettings {
  const unknown = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
  const models = [model, ...others].map((id) => ({
    id,
    name: id,
    reasoning: false,
    input: ['text'],
    cost: unknown,
    contextWindow: 128_000,
    maxTokens: 16_384,
  }))
  const provider = {
    name: 'svc',
    baseUrl: `${url}/llmo/v1`,
    api: 'openai-completions',
    headers: { [ownTools.name]: ownTools.value },
    models,
  }
  return {
    env: { [tokenVariable]: token, [piVariable]: JSON.stringify(provider) },
    args: ['--extension', file, '--provider', 'svc', '--model', model],
  }
}

export const clients: Record<ClientName, Client> = {
  claude: {
    command: 'claude',
    install: 'npm install --global @anthropic-ai/claude-code@latest',
    removed: ['ANTHROPIC_API_KEY', 'CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX', 'CLAUDE_CODE_USE_FOUNDRY'],
    describe: describeClaude,
  },
  codex: {
    command: 'codex',
    install: 'npm install --global @openai/codex@latest',
    removed: [],
    describe: describeCodex,
  },
  opencode: {
    command: 'opencode',
    install: 'npm install --global opencode-ai@latest',
    removed: [],
    describe: describeOpencode,
  },
  pi: {
    command: 'pi',
    install: 'npm install --global @earendil-works/pi-coding-agent@latest',
    removed: [],
    file: {
      name: 'pi-provider.js',
      // Its versions name a variable in different ways; all take the token itself.
      text: `import { env } from 'node:process'\nexport default (pi) => pi.registerProvider('svc', { ...JSON.parse(env.${piVariable}), apiKey: env.${tokenVariable} })\n`,
    },
    describe: describePi,
  },
}

/** Lines for a POSIX shell; an alias where the client needs arguments. */
export function formatForShell(name: ClientName, { env, args }: ClientSettings): string {
  const { command, removed } = clients[name]
  return [
    ...(removed.length === 0 ? [] : [`unset ${removed.join(' ')}`]),
    ...Object.entries(env).map(([variable, value]) => `export ${variable}=${quoteWord(value)}`),
    ...(args.length === 0 ? [] : [`alias ${name}=${quoteWord(quoteWords([command, ...args]))}`]),
  ].join('\n')
}
