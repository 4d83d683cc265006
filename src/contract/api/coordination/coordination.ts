// What a coordinating model asks of the service: the arguments of its tools are the bodies of these routes. They have no ids,
// because models are shown them as one schema.
import { z } from 'zod'
import { Name, Timestamp } from '../../kinds/resources/metadata.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { PositiveDuration } from '../../values/duration.ts'
import { errorResponses, workerRoutes } from '../resources/route.ts'
import { approvalStates } from '../tasks/approvals.ts'
import { ParkWait } from '../tasks/parking.ts'
import { AgentMessage } from '../tasks/task-records.ts'

const task = z.object({
  namespace: field(Name, 'Namespace of the task.', 'default'),
  taskName: field(Name, 'Name of the task that coordinates.', 'lead'),
})

const namespace = field(
  Name.optional(),
  'Namespace of the task; only the one of the coordinator is possible.',
  'default',
)
const priority = field(z.int().min(0).max(1000).optional(), 'Higher starts first. Without it: as the coordinator.', 500)
const timeout = field(PositiveDuration.optional(), 'Longest run, such as 30s, 10m or 1h.', '10m')
const workspace = field(
  z
    .strictObject({
      gitRepo: field(z.string().min(1), 'Repository to check out.', 'https://github.com/owner/repo'),
      branch: field(z.string().min(1).optional(), 'Branch to check out.', 'main'),
      ref: field(z.string().min(1).optional(), 'Tag, branch or commit.', 'v1.2.0'),
      gitSecretRef: field(
        z.string().min(1).optional(),
        'Name of the Secret that opens the repository: only one that the coordinator has for it.',
        'git',
      ),
      subPath: field(z.string().min(1).optional(), 'Folder in the repository.', 'packages/api'),
      pushBranch: field(z.string().min(1).optional(), 'Branch that changes are pushed to.', 'svc/fix'),
    })
    .optional(),
  'Repository that the task works in.',
)
/** The repository of a delegated task; undefined: none. */
export type DelegatedWorkspace = z.output<typeof workspace>

const priorTask = field(
  limitedText(253).min(1).optional(),
  'A task that you made before, whose work this one continues.',
  'lead-child-1a2b3c4d',
)

const maxTextLength = 1_000_000

/** Arguments of delegate_task. */
export const DelegateTask = z.strictObject({
  agent: field(limitedText(253).min(1), 'Agent that does the work.', 'researcher'),
  prompt: field(
    limitedText(maxTextLength).min(1, 'must not be empty'),
    'All that the agent must know: it sees nothing of this conversation.',
    'Read the page and sum it up.',
  ),
  namespace,
  agentNamespace: field(Name.optional(), 'Namespace of the agent. Without it: the one of the coordinator.', 'default'),
  priority,
  auto_retry: field(z.boolean().optional(), 'Whether the task runs again when it fails.'),
  max_retries: field(z.int().min(1).max(10).optional(), 'How often at most; 2 without it.', 2),
  timeout,
  workspace,
  maxTurns: field(z.int().min(1).max(1000).optional(), 'Turns of an agent program at most.', 30),
  allowBash: field(z.boolean().optional(), 'Whether an agent program may run shell commands.'),
  prior_task: priorTask,
  feedback: field(
    limitedText(maxTextLength).min(1).optional(),
    'What to do better than the prior task; it goes before the prompt.',
    'The sum is wrong: count again.',
  ),
})
export type DelegateTask = z.infer<typeof DelegateTask>

/** Arguments of create_container_task. */
export const DelegateContainer = z.strictObject({
  name: field(limitedText(253).min(1).optional(), 'A short name for people.', 'run the tests'),
  image: field(z.string().min(1).optional(), 'Container image.', 'node:22'),
  command: field(z.array(z.string()).max(1000).optional(), 'Program and arguments.', ['sh', '-c', 'npm test']),
  args: field(z.array(z.string()).max(1000).optional(), 'Further arguments.', ['--all']),
  env: field(z.record(z.string(), z.string()).optional(), 'Environment variables.', { CI: '1' }),
  workspace,
  prior_task: priorTask,
  timeout,
  priority,
  namespace,
})
export type DelegateContainer = z.infer<typeof DelegateContainer>

/** How long `wait_for_tasks` waits when nothing else is said. */
export const defaultWait = '10m'

/** Arguments of wait_for_tasks. */
export const WaitForTasks = z.strictObject({
  tasks: field(
    z.array(limitedText(253).min(1)).min(1, 'must name a task').max(200, 'must be at most 200'),
    'Names of tasks that you made.',
    ['lead-child-1a2b3c4d'],
  ),
  timeout: field(PositiveDuration.default(defaultWait), 'Longest wait.', '10m'),
})
export type WaitForTasks = z.infer<typeof WaitForTasks>

/** Arguments of cancel_task. */
export const CancelChild = z.strictObject({
  task_name: field(limitedText(253).min(1), 'A task that you made.', 'lead-child-1a2b3c4d'),
  namespace,
  reason: field(limitedText(1000).optional(), 'Why, for people.', 'no longer needed'),
})
export type CancelChild = z.infer<typeof CancelChild>

/** Arguments of create_agent. */
export const CreateHelper = z.strictObject({
  name: field(Name, 'Name of the new agent.', 'summarizer'),
  provider: field(limitedText(253).min(1), 'Provider: one that your own agent uses.', 'main'),
  model: field(limitedText(256).min(1), 'Model of the provider.', 'small-model'),
  systemPrompt: field(limitedText(maxTextLength).optional(), 'What the agent is and how it works.', 'You sum up.'),
  tools: field(z.array(limitedText(253).min(1)).max(100).optional(), 'Names of tools: only ones that you have.', [
    'web_fetch',
  ]),
  coordination: field(
    z
      .strictObject({
        enabled: field(z.boolean(), 'Whether it may delegate too.'),
        allowedAgents: field(z.array(z.string().min(1)).max(100).optional(), 'Agents for it: only ones of yours.', [
          'researcher',
        ]),
        maxConcurrentChildren: field(z.int().min(1).optional(), 'Its tasks that may run at once.', 3),
        maxDepth: field(z.int().min(1).max(10).optional(), 'Levels of tasks, counted from the first coordinator.', 3),
      })
      .optional(),
    'Whether and how it coordinates.',
  ),
})
export type CreateHelper = z.infer<typeof CreateHelper>

/** Arguments of delete_agent. */
export const DeleteHelper = z.strictObject({
  name: field(limitedText(253).min(1), 'An agent that you made.', 'summarizer'),
  namespace,
})
export type DeleteHelper = z.infer<typeof DeleteHelper>

/** Arguments of send_message. */
export const SendToSibling = z.strictObject({
  to_task: field(
    limitedText(253).min(1),
    'A task of the same coordinator, the coordinator, or a task that you made; `*` for all.',
    '*',
  ),
  content: field(
    limitedText(65_536, 'must be at most 65536 characters').min(1, 'must not be empty'),
    'The text.',
    'I take the second page.',
  ),
})
export type SendToSibling = z.infer<typeof SendToSibling>

/** Names one call of the whole run: a repeated call of the same word has the same effect as one. */
const call = field(limitedText(256).min(1), 'Word that names the call: repeating it has the effect of one.', '3-call_1')
const step = field(limitedText(64).min(1).optional(), 'Step of the trace that makes the task.', '7')

/** What came of one task. */
export const ChildResult = z
  .object({
    task: field(z.string(), 'Name of the task.', 'lead-child-1a2b3c4d'),
    phase: field(z.string(), 'Phase; `Error` for a name that is no task of the coordinator.', 'Succeeded'),
    agent: field(z.string().optional(), 'Its agent.', 'researcher'),
    error: field(z.string().optional(), 'Why nothing is known of it.', 'is no task of yours'),
    result: field(z.string().optional(), 'What it said, 4,096 characters at most.', 'The answer is 42.'),
    verdict: field(z.unknown().optional(), 'Verdict of a task in a repository.', 'approve'),
    feedback: field(z.unknown().optional(), 'Feedback of a task in a repository.', 'none'),
    files: field(z.array(z.string()).optional(), 'Files that it changed.', ['src/main.py']),
    data: field(z.unknown().optional(), 'Structured data of its answer, 32 KiB at most.', { total: 42 }),
    artifacts: field(z.array(z.string()).optional(), 'Names of its artifacts.', ['report.md']),
    baseSHA: field(z.string().optional(), 'Commit that it began with.', 'a1b2c3'),
    headSHA: field(z.string().optional(), 'Commit that it made.', 'd4e5f6'),
    pushBranch: field(z.string().optional(), 'Branch that it pushed to.', 'svc/fix'),
    iteration: field(z.int().optional(), 'Iterations of an autonomous agent.', 3),
    failureDetails: field(
      z
        .object({
          message: field(z.string(), 'Why it failed.', 'the command ended with exit code 1'),
          retryCount: field(z.int(), 'How often it was repeated.', 1),
          maxRetries: field(z.int(), 'How often it might be.', 2),
        })
        .optional(),
      'Present when it failed.',
    ),
  })
  .meta({ id: 'ChildResult' })
export type ChildResult = z.infer<typeof ChildResult>

/** What came of the tasks, or what is left to wait for. */
export const WaitAnswer = z
  .object({
    completed: field(z.boolean(), 'Whether all of them have ended.'),
    results: field(z.array(ChildResult), 'One for each name, in their order.'),
    wait: field(ParkWait.optional(), 'Present: some have not ended, and there is time left to wait for them.'),
  })
  .meta({ id: 'WaitAnswer' })
export type WaitAnswer = z.infer<typeof WaitAnswer>

/** What became of a request about a task. */
const Delegated = z
  .object({
    taskName: field(z.string(), 'Name of the new task.', 'lead-child-1a2b3c4d'),
    status: field(z.string(), 'What became of the request.', 'created'),
  })
  .meta({ id: 'Delegated' })
export type Delegated = z.infer<typeof Delegated>

const Named = z
  .object({
    name: field(z.string(), 'Name of the agent.', 'summarizer'),
    status: field(z.string(), 'State.', 'created'),
  })
  .meta({ id: 'NamedHelper' })

type Verb<B, A> = { verb: string; summary: string; description: string; body: B; answer: A }

function defineVerb<B extends z.ZodObject, A extends z.ZodType>({ verb, answer, ...words }: Verb<B, A>) {
  return workerRoutes.post(`/coordination/:namespace/:taskName/${verb}`, {
    ...words,
    params: task,
    responses: { ...errorResponses(404, 409), 200: { description: 'Done', schema: answer } },
  })
}

export const delegateTask = defineVerb({
  verb: 'delegate',
  summary: 'Give work to another agent',
  description: 'Makes a task of another agent, as a child of this one.',
  body: z.strictObject({ call, step, args: DelegateTask }),
  answer: Delegated,
})

export const delegateContainer = defineVerb({
  verb: 'container',
  summary: 'Run a command as a child task',
  description: 'Makes a container task, as a child of this one.',
  body: z.strictObject({ call, step, args: DelegateContainer }),
  answer: Delegated,
})

export const waitForChildren = defineVerb({
  verb: 'wait',
  summary: 'What came of child tasks',
  description:
    'Answers at once: what came of the tasks, and what is left to wait for. The task parks itself to wait, and asks again when it goes on.',
  body: z.strictObject({
    call,
    until: field(Timestamp.optional(), 'When the wait of this call ends, as an earlier answer said.'),
    args: WaitForTasks,
  }),
  answer: WaitAnswer,
})

export const cancelChild = defineVerb({
  verb: 'cancel',
  summary: 'Cancel a child task',
  description: 'Cancels a task that this one has made; harmless when it has ended.',
  body: z.strictObject({ args: CancelChild }),
  answer: Delegated,
})

export const createHelper = defineVerb({
  verb: 'create-agent',
  summary: 'Make an agent for this task',
  description: 'Makes an agent that this task alone may delegate to. It is removed with the task.',
  body: z.strictObject({ args: CreateHelper }),
  answer: Named,
})

export const deleteHelper = defineVerb({
  verb: 'delete-agent',
  summary: 'Remove an agent that this task has made',
  description: 'Removes an agent that this task has made.',
  body: z.strictObject({ args: DeleteHelper }),
  answer: Named,
})

export const sendToFamily = defineVerb({
  verb: 'send',
  summary: 'Send a message within the family',
  description: 'Sends a message to a sibling, to the parent, to a child, or with `*` to all siblings.',
  body: z.strictObject({ args: SendToSibling }),
  answer: z.object({ id: field(z.int(), 'Number of the message.', 7) }),
})

/** Messages of siblings, of the parent and of children. */
export const readInbox = defineVerb({
  verb: 'inbox',
  summary: 'Unread messages of the whole family, oldest first',
  description: 'Answers the messages from siblings, from the parent and from children that the task has not read.',
  body: z.strictObject({
    markRead: field(z.boolean(), 'Mark the messages as read.'),
    upTo: field(z.int().min(0).optional(), 'Only messages up to this number.', 42),
  }),
  answer: z.array(AgentMessage),
})

/** How long an answer is waited for when nothing else is said. */
export const defaultApprovalWait = '24h'

const approvalTimeout = field(PositiveDuration.default(defaultApprovalWait), 'Longest wait for an answer.', '24h')

/** Arguments of request_approval. */
export const RequestApproval = z.strictObject({
  message: field(
    limitedText(4096, 'must be at most 4096 characters').min(1, 'must not be empty'),
    'What you want to do, why, and what speaks against it. A person decides by this text alone.',
    'May I delete the branch release-1? Nobody has used it since May.',
  ),
  timeout: approvalTimeout,
})
export type RequestApproval = z.infer<typeof RequestApproval>

/** What a person is asked. */
export const AskApproval = z
  .strictObject({
    tool: field(limitedText(253).min(1), 'Tool that would run.', 'delete_agent'),
    arguments: field(z.record(z.string(), z.unknown()), 'Arguments of the call.', { name: 'helper' }),
    message: field(limitedText(8192).min(1), 'What is asked.', 'delete_agent {"name":"helper"}'),
    timeout: approvalTimeout,
  })
  .meta({ id: 'AskApproval' })
export type AskApproval = z.infer<typeof AskApproval>

/** The answer, or what is left to wait for. */
export const ApprovalAnswerSeen = z
  .object({
    status: field(z.enum(approvalStates), 'How far it is.'),
    reason: field(z.string().optional(), 'Why, as the person said it.', 'it is still needed'),
    by: field(z.string().optional(), 'Who answered.', 'ada'),
    wait: field(ParkWait.optional(), 'Present while nobody has answered.'),
  })
  .meta({ id: 'ApprovalAnswerSeen' })
export type ApprovalAnswerSeen = z.infer<typeof ApprovalAnswerSeen>

export const askApproval = defineVerb({
  verb: 'approval',
  summary: 'Ask a person',
  description:
    'Asks once for each call, and answers at once. The task parks itself to wait, and asks again when it goes on.',
  body: z.strictObject({ call, args: AskApproval }),
  answer: ApprovalAnswerSeen,
})

/** How often `auto_retry` repeats a task when nothing else is said. */
export const defaultRetries = 2
