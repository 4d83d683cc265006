// What a worker receives through a pipe when it starts: everything it may know about its one attempt.
import { z } from 'zod'
import { reasoningEfforts } from '../../kinds/agents/runtime-types.ts'
import { Price, RateLimit, vendorTypes } from '../../kinds/providers/provider.ts'
import { field } from '../../schema/field.ts'
import { TranscriptMessage } from '../chat/sessions.ts'
import { AssignedCoordination } from '../coordination/assigned-coordination.ts'
import { AssignedTool } from '../tools/assigned-tool.ts'

/** How to reach one provider. */
export const AssignedProvider = z.object({
  namespace: field(z.string(), 'Namespace of the Provider.', 'default'),
  name: field(z.string(), 'Name of the Provider.', 'main'),
  type: field(z.enum(vendorTypes), 'Interface that the vendor speaks.'),
  baseUrl: field(
    z.string().optional(),
    "Address of the vendor's interface. Absent: the vendor's own address.",
    'https://api.example.com/v1',
  ),
  apiKey: field(z.string().optional(), 'The API key. Absent: the endpoint needs none.', 'key-of-the-vendor'),
  azure: field(
    z
      .object({
        deploymentName: field(z.string(), 'Name of the deployment.', 'large-model'),
        apiVersion: field(z.string(), "Version of the vendor's interface.", '2024-02-15-preview'),
      })
      .optional(),
    'Settings of the type `azure-llmo`.',
  ),
  trusted: field(
    z.boolean().optional(),
    'The owner of the machine set the base URL (annotation `svc.ai/trusted-base-url`): loopback and private addresses are allowed.',
  ),
  allowedHosts: field(
    z.array(z.string()).optional(),
    'Hosts that the key may be sent to (annotation `svc.ai/allowed-hosts` of its Secret). Absent: all hosts.',
    ['api.example.com'],
  ),
  rateLimit: field(
    RateLimit.optional(),
    'Present: each call needs a lease first (for a worker: POST /internal/v1/leases).',
  ),
  price: field(Price.optional(), 'Prices of the provider.'),
})
export type AssignedProvider = z.infer<typeof AssignedProvider>

/** A provider and the model to ask it for. */
export const ModelChoice = z.object({
  provider: field(AssignedProvider, 'Provider to call.'),
  model: field(z.string(), 'Model to ask for.', 'large-model'),
})
export type ModelChoice = z.infer<typeof ModelChoice>

/** A skill that the model is told of and may read. */
export const AssignedSkill = z.object({
  name: field(z.string(), 'Name of the Skill.', 'release-notes'),
  description: field(z.string(), 'What the skill is for.', 'How we write release notes'),
  inline: field(z.string(), 'Text of the skill, in Markdown.', '# Release notes'),
  files: field(z.record(z.string(), z.string()).optional(), 'Files next to the Markdown: text by relative path.', {
    'examples/a.md': '# Example',
  }),
})
export type AssignedSkill = z.infer<typeof AssignedSkill>

/** The task and the attempt that a worker runs. */
export const AssignedTask = z.object({
  namespace: field(z.string(), 'Namespace of the task.', 'default'),
  name: field(z.string(), 'Name of the task.', 'nightly-report'),
  uid: field(z.string(), 'Uid of the task.', '0192f0c1-5c7a-7c1e-9d55-0f5a3a7b9c10'),
  attempt: field(z.int().min(1), 'Number of the attempt, from 1.', 1),
  type: field(z.enum(['ai', 'container', 'agent']), 'Type of the task.'),
  agentName: field(z.string().optional(), 'Agent of the task.', 'researcher'),
  sessionName: field(z.string().optional(), 'Session that the task continues.', 'support-42'),
  parentTask: field(z.string().optional(), 'Name of the task that created this one.', 'nightly-report'),
  traceparent: field(
    z.string().optional(),
    'Trace and span of the attempt, for all that it calls (W3C Trace Context).',
    '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  ),
  variables: field(
    z.record(z.string(), z.string()).optional(),
    'Environment of code that the task runs: its own variables and `SVC_TRANSACTION_*`.',
    { LOG_LEVEL: 'debug' },
  ),
  files: field(
    z.record(z.string(), z.string()).optional(),
    'Read-only files for such code, by absolute path: the Secrets that task and agent name with `secretRef`.',
    { '/secrets/task/token': 'value' },
  ),
})
export type AssignedTask = z.infer<typeof AssignedTask>

/** Limits and prompts of the tool loop of one attempt. */
export const AssignedLoop = z.object({
  maxIterations: field(z.int().min(1), 'Model calls at most.', 50),
  maxToolCalls: field(z.int().min(1), 'Tool calls of one model turn at most.', 128),
  maxTokens: field(z.int().min(1).optional(), 'Output tokens of one model call at most.', 4096),
  temperature: field(z.number().optional(), 'Sampling temperature, from 0 to 2.', 0.2),
  toolTimeoutMs: field(z.number().positive(), 'Time limit of one tool call in milliseconds.', 60000),
  systemPrompt: field(z.string(), 'The system prompt.', 'You are a careful reviewer.'),
  prompt: field(z.string(), 'What the model is asked to do.', 'Summarize the page'),
  tools: field(z.array(z.string()), 'Names of the built-in tools that the model may call.', ['web_fetch']),
  outputSchema: field(
    z.record(z.string(), z.unknown()).optional(),
    'JSON Schema that the answer must match. Absent: any text is an answer.',
    { type: 'object' },
  ),
})
export type AssignedLoop = z.infer<typeof AssignedLoop>

/** How the program of an agent is started. */
export const AssignedLaunch = z.object({
  argv: field(z.array(z.string()).min(1), 'The real path of the program, after the interpreter that it names.', [
    '/home/me/.nvm/versions/node/v22.12.0/bin/node',
    '/home/me/.nvm/versions/node/v22.12.0/lib/node_modules/@openai/codex/bin/codex.js',
  ]),
  folders: field(z.array(z.string()), 'Folders and files that it reads, at their own paths.', [
    '/home/me/.nvm/versions/node/v22.12.0/lib/node_modules',
  ]),
  version: field(z.string().optional(), 'Version that the program says it has. Absent: it was not asked.', '0.171.0'),
})
export type AssignedLaunch = z.infer<typeof AssignedLaunch>

/** The agent program of one attempt. */
export const AssignedAgent = z.object({
  runtime: field(z.string(), 'Which program runs: a runtime type, or the name of one that was added.', 'llma-cli'),
  command: field(
    z.array(z.string()).min(1).optional(),
    'Program and arguments of one that was added; it speaks the Agent Client Protocol.',
    ['qwen', '--acp'],
  ),
  launch: field(
    AssignedLaunch.optional(),
    'How the program is started on the machine of the service. Absent: it is looked up in `path`.',
  ),
  path: field(z.string(), 'Where programs are looked up, as in the variable PATH.', '/usr/local/bin:/usr/bin:/bin'),
  model: field(z.string(), 'Provider and model, as the proxies know them.', 'main/large-model'),
  token: field(z.string(), 'Token of the proxies: for this model alone, while the attempt is live.', 'svc_agent_a1b2'),
  maxTurns: field(z.int().min(1), 'Turns at most.', 50),
  allowedTools: field(z.array(z.string()).optional(), 'Tools that it may use. Absent: all of its own.', ['Read']),
  disallowedTools: field(z.array(z.string()).optional(), 'Tools that it must not use.', ['WebSearch']),
  allowBash: field(z.boolean(), 'Whether it may run shell commands.'),
  approvalRequiredTools: field(
    z.array(z.string()).optional(),
    'Tools for which a person is asked before each call, by their kind or title.',
    ['execute'],
  ),
  reasoningEffort: field(z.enum(reasoningEfforts).optional(), 'How much the model reasons.'),
  trustsFolder: field(
    z.boolean().optional(),
    'Whether settings that lie in the repository count. Absent: they do not.',
  ),
})
export type AssignedAgent = z.infer<typeof AssignedAgent>

/** Networks that may be dialled besides public addresses (CIDR), and `host:port` pairs of the service itself, which never are. */
export const AssignedEgress = z.object({
  allowNetworks: field(z.array(z.string()), 'Private networks that may be reached.', ['10.0.0.0/8']),
  deny: field(z.array(z.string()), 'Addresses that must not be reached.', ['10.0.0.1']),
})
export type AssignedEgress = z.infer<typeof AssignedEgress>

/** The search backend of web_search. */
export const AssignedSearch = z.object({
  backend: field(z.enum(['searxng', 'brave', 'tavily', 'json']), 'Search backend of web_search.'),
  url: field(z.string().optional(), 'Address of the backend.', 'http://127.0.0.1:8888'),
  apiKey: field(z.string().optional(), 'Key of the backend.', 'key-of-the-backend'),
})
export type AssignedSearch = z.infer<typeof AssignedSearch>

/**
 * How calls of custom tools carry the task's transaction: `exchange`: each with a new token from the service; `token`:
 * all with the token given here; `none`: the task is not part of a transaction.
 */
export const AssignedPropagation = z.discriminatedUnion('mode', [
  z.object({ mode: field(z.literal('exchange'), 'How context tokens are passed on to tools.') }),
  z.object({
    mode: field(z.literal('token'), 'How context tokens are passed on to tools.'),
    token: field(z.string(), 'The token that is passed on.', 'eyJhbGciOi'),
  }),
  z.object({ mode: field(z.literal('none'), 'How context tokens are passed on to tools.') }),
])
export type AssignedPropagation = z.infer<typeof AssignedPropagation>

/** Everything a worker needs for one attempt; it contains secrets and is never stored. */
export const WorkAssignment = z.object({
  version: field(z.literal(1), 'Version of this shape.'),
  api: field(
    z.object({
      url: field(z.string(), 'Address of the worker API.', 'http://127.0.0.1:8080'),
      token: field(z.string(), 'Token of this attempt.', 'eyJhbGciOi'),
    }),
    'How the worker reaches the service.',
  ),
  task: field(AssignedTask, 'The task and its attempt.'),
  deadline: field(
    z.string().optional(),
    'Time by which the attempt must have ended (RFC 3339). Absent: no limit.',
    '2030-01-01T00:15:00.000Z',
  ),
  timeoutMs: field(
    z.number().positive().optional(),
    'The same limit as a length of time in milliseconds; where the start is delayed it counts from the start.',
    900000,
  ),
  loop: field(AssignedLoop, 'Limits and prompts of the tool loop.'),
  model: field(
    z.object({
      choices: field(z.array(ModelChoice), 'Models in order of preference.'),
      agent: field(
        z
          .object({
            namespace: field(z.string(), 'Namespace of the agent.', 'default'),
            name: field(z.string(), 'Name of the agent.', 'researcher'),
            rateLimit: field(RateLimit, 'Limit of all its calls.'),
          })
          .optional(),
        'Present: the agent has a rate limit of its own for all its calls.',
      ),
    }),
    'Models that the loop may call.',
  ),
  agent: field(AssignedAgent.optional(), 'Present: an agent program runs, and calls its model through the proxies.'),
  network: field(
    z
      .object({
        socket: field(z.string(), 'Unix socket of the gate.', '/run/svc-network/gate'),
        isRequired: field(z.boolean(), 'Whether a program whose network cannot be limited is refused.'),
      })
      .optional(),
    'Present: the way out of the program of the agent, which has no other. Set where the worker is started.',
  ),
  coordination: field(
    AssignedCoordination.optional(),
    'Present: the agent coordinates, and its model has the tools for it.',
  ),
  codeHostTools: field(
    z.array(z.string()).optional(),
    'Tools of the code host that the model may call. Absent: none.',
    ['list_pull_requests'],
  ),
  memories: field(
    z
      .array(
        z.object({
          id: field(z.string(), 'Id of the memory.', 'mem-0192f0c1'),
          text: field(z.string(), 'What is remembered, or the beginning of it.', 'Staging is reset on Mondays.'),
          tags: field(z.array(z.string()).optional(), 'Its tags.', ['staging']),
        }),
      )
      .optional(),
    'Durable memories that fit the prompt, the best first. Absent: none.',
  ),
  customTools: field(z.array(AssignedTool), 'Tool resources that the model may call.'),
  skills: field(
    z.array(AssignedSkill).optional(),
    'Skills that the model may read with `skill_read`; the system prompt lists them. Absent: none.',
  ),
  keep: field(
    z
      .object({
        files: field(z.int().min(0), 'How many at most.', 200),
        bytes: field(z.int().min(0), 'Bytes of all together at most.', 52428800),
      })
      .optional(),
    'Files of the workspace that are kept as artifacts. Absent: those below `artifacts/` only.',
  ),
  checkout: field(
    z
      .object({ subPath: field(z.string().optional(), 'Folder of the repository to work in.', 'packages/api') })
      .optional(),
    'Present: the workspace holds a git repository; what changes in it is taken from there.',
  ),
  inputs: field(
    z.array(z.string()).optional(),
    'Paths of the files that the task was given; the worker reads them from the service. Absent: none.',
    ['src/main.py'],
  ),
  egress: field(AssignedEgress, 'Addresses that may be reached.'),
  search: field(AssignedSearch.optional(), 'Search backend. Absent: web_search is not set up.'),
  propagation: field(
    AssignedPropagation.optional(),
    'How context tokens are passed on. Absent: context tokens are off, and tools may set any header.',
  ),
  session: field(
    z
      .object({
        name: field(z.string(), 'Name of the session.', 'support-42'),
        messages: field(z.array(TranscriptMessage), 'Its newest messages, oldest first.'),
      })
      .optional(),
    'The session that the task continues.',
  ),
  redact: field(z.array(z.string()), 'Values that must never appear in logs, results and errors.', [
    'key-of-the-vendor',
  ]),
})
export type WorkAssignment = z.infer<typeof WorkAssignment>
