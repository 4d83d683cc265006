// Runs commands in comments, for those who may write to the repository: a reaction, and one comment that says what came of it.
import type { DeliveryOutcome } from '../../../contract/api/codehost/deliveries.ts'
import type { CodeHostEvent, CodeHostRepository, CodeHostTarget } from '../../../contract/api/codehost/events.ts'
import { isTerminalPhase, type Task } from '../../../contract/kinds/tasks/task.ts'
import { type Repository, readRepositoryUrl, repositoryUrlOf } from '../../../contract/values/repository-url.ts'
import { SvcError } from '../../../errors.ts'
import { createKeyedQueue } from '../../../lib/keyed-queue.ts'
import { readResultText } from '../../../lookup/result-text.ts'
import { redactText } from '../../../observability/redaction.ts'
import { type CodeHost, repositoryPermissions } from '../../../ports/codehost/code-host.ts'
import type { Delivery } from '../../../ports/codehost/deliveries.ts'
import type { ResourceKey } from '../../../ports/resources/resources.ts'
import type { CommandVerb } from '../../../rules/codehost/event-actions.ts'
import { findStatus, writeStatus } from '../../../rules/codehost/status-comment.ts'
import { codeHostKeys, createdByKey } from '../../../rules/codehost/subject.ts'
import { repeatOnConflict } from '../../resources/write-conflict.ts'
import type { DeliveryContext, QueuedRuns } from './context.ts'
import { cancelStarted, createDeliveryTask, describeCancelled } from './tasks.ts'

export type CommandContext = Pick<DeliveryContext, 'ports' | 'resources' | 'settings' | 'withdraw'> & {
  /** With the login of label triggers. */
  openHost(repository: Repository): CodeHost
  queueRuns(event: CodeHostEvent, delivery: string): Promise<QueuedRuns | undefined>
  statusComments: StatusComments
}

type Command = { event: CodeHostEvent; target: CodeHostTarget; delivery: string; verb: CommandVerb; host: CodeHost }

const minPermission = repositoryPermissions.indexOf('write')

function requireRepository({ repository }: CodeHostEvent, hosts: readonly string[]): Repository {
  const read = readRepositoryUrl(repository.cloneURL, hosts)
  if ('problem' in read) throw new SvcError('InvalidRequest', `clone_url of ${repository.fullName} ${read.problem}`)
  return read.repository
}

function describeRepository({ host, owner, name }: Repository): CodeHostRepository {
  const url = repositoryUrlOf({ host, owner, name })
  return { fullName: `${owner}/${name}`, url, cloneURL: `${url}.git` }
}

/** Comments do not say at which commit the pull request is. */
async function readHead({ host, target }: Pick<Command, 'host' | 'target'>): Promise<CodeHostTarget> {
  if (target.kind === 'issue') return target
  const { head, base, draft } = await host.getPullRequest(target.number)
  const of = head.repository && describeRepository({ ...host.repository, ...head.repository })
  return {
    ...target,
    isDraft: draft,
    head: { branch: head.branch, sha: head.commit, repository: of },
    base: { branch: base.branch, sha: base.commit, repository: describeRepository(host.repository) },
  }
}

async function startCommandTask(
  context: CommandContext,
  command: Command,
  target: CodeHostTarget,
): Promise<DeliveryOutcome> {
  const { event, delivery, verb } = command
  return createDeliveryTask(context, { event, target, delivery, action: verb, by: 'codehost-command' })
}

async function review(context: CommandContext, command: Command): Promise<DeliveryOutcome> {
  const { event, delivery } = command
  if (command.target.kind === 'issue')
    throw new SvcError('InvalidRequest', '/svc review is for pull requests, and this is an issue')
  const target = await readHead(command)
  const runs = await context.queueRuns({ ...event, target }, delivery)
  if (runs === undefined || runs.matchedMonitors === 0) return startCommandTask(context, command, target)
  const message = `a review at ${target.head?.sha.slice(0, 8)} is queued; it is posted here when it is done`
  return { status: 'created', code: 201, message, ...runs }
}

async function stop(context: CommandContext, { event }: Command): Promise<DeliveryOutcome> {
  const why = `${event.sender} wrote /svc stop`
  const started = await cancelStarted(context.ports, event, { why })
  const reviews = await context.withdraw?.(event, { isClosed: false, why })
  const cancelledTasks = [...started, ...(reviews?.cancelledTasks ?? [])]
  const cancelled = { cancelledTasks, cancelledRuns: reviews?.cancelledRuns ?? [] }
  return { status: 'accepted', code: 202, message: `${why}: ${describeCancelled(cancelled)}`, ...cancelled }
}

const verbs: Record<CommandVerb, (context: CommandContext, command: Command) => Promise<DeliveryOutcome>> = {
  review,
  stop,
  explain: async (context, command) => startCommandTask(context, command, await readHead(command)),
}

/** What the sender or the operator has to change is reported to them; anything else is tried again. */
function describeRefusal(error: unknown): DeliveryOutcome {
  if (!(error instanceof SvcError) || !['InvalidRequest', 'NotConfigured', 'BudgetExceeded'].includes(error.reason))
    throw error
  return { status: 'failed', message: error.message }
}

/** Until those that came before are done, so that the comment is about the newest in the end. */
async function waitForTurn({ ports }: CommandContext, { repository, number, id, receivedAt }: Delivery): Promise<void> {
  const waiting = await ports.records.deliveries.list({
    repository,
    number,
    event: 'issue_comment',
    state: 'pending',
    limit: 100,
  })
  const first = waiting.findLast((one) => one.id !== id && one.receivedAt < receivedAt)
  if (first !== undefined) throw new SvcError('Unavailable', `waits for the command of delivery ${first.id}`)
}

/** Rejects with what is to be tried again. */
export async function runCommand(
  context: CommandContext,
  delivery: Delivery,
  verb: CommandVerb,
): Promise<DeliveryOutcome> {
  const { facts: event, id } = delivery
  const { target, comment } = event ?? {}
  if (event === undefined || target === undefined || comment === undefined) return delivery.outcome
  const host = context.openHost(requireRepository(event, context.settings.hosts))
  const { number } = target
  const permission = await host.getPermission(event.sender)
  if (repositoryPermissions.indexOf(permission) < minPermission) {
    await host.addReaction({ number, comment: comment.id }, '-1')
    const message = `${event.sender} has the right "${permission}" in ${event.repository.fullName}; commands need "write"`
    return { status: 'ignored', code: 202, message }
  }
  await waitForTurn(context, delivery)
  await host.addReaction({ number, comment: comment.id }, 'eyes')
  const command = { event, target, delivery: id, verb, host }
  const outcome = await verbs[verb](context, command).catch(describeRefusal)
  const summary = `\`/svc ${verb}\` by ${event.sender}: ${outcome.message}`
  await context.statusComments.show(host, number, { summary })
  return { ...outcome, action: verb }
}

/** Says when the answer was written. */
const answeredKey = 'svc.ai/codehost-answered-at'
const maxAnswerBytes = 65_536

/** Whether the code host still waits for the answer of a task. */
export function isAnswerDue({ metadata, status }: Task): boolean {
  const isCommand = metadata.labels?.[createdByKey] === 'codehost-command'
  return isCommand && isTerminalPhase(status?.phase) && metadata.annotations?.[answeredKey] === undefined
}

async function describeAnswer(
  { ports }: CommandContext,
  task: Task,
): Promise<{ summary: string; detail?: string | undefined }> {
  const { phase, message } = task.status ?? {}
  const action = task.metadata.annotations?.[codeHostKeys.action]
  const sender = task.metadata.annotations?.[codeHostKeys.sender]
  const summary = `\`/svc ${action}\` by ${sender}: task ${task.metadata.name} has ended: ${phase}`
  if (phase !== 'Succeeded') return { summary, detail: redactText(message ?? '') }
  const text = await readResultText(ports.records.results, { taskUid: task.metadata.uid }, maxAnswerBytes)
  return { summary, detail: redactText(text ?? 'It has no result.') }
}

async function markAnswered({ ports }: CommandContext, key: ResourceKey): Promise<void> {
  await repeatOnConflict(async () => {
    const task = await ports.resources.get('Task', key)
    if (task === undefined) return
    const annotations = { ...task.metadata.annotations, [answeredKey]: ports.clock.now().toISOString() }
    await ports.resources.update('Task', { ...task, metadata: { ...task.metadata, annotations } })
  })
}

/** Writes the answer that is owed. Repeating is harmless. The errors of the code host. */
export async function answerCommand(context: CommandContext, key: ResourceKey): Promise<void> {
  const task = await context.ports.resources.get('Task', key)
  if (task === undefined || !isAnswerDue(task)) return
  const { [codeHostKeys.url]: url = '', [codeHostKeys.number]: number } = task.metadata.annotations ?? {}
  const root = /^https:\/\/[^/]+\/[^/]+\/[^/]+/.exec(url)?.[0] ?? ''
  const read = readRepositoryUrl(root, context.settings.hosts)
  if ('repository' in read)
    await context.statusComments.show(
      context.openHost(read.repository),
      Number(number),
      await describeAnswer(context, task),
    )
  await markAnswered(context, key)
}

export type StatusComments = {
  /** Writes it, or changes the one that is there. The errors of the code host. */
  show(host: CodeHost, number: number, text: { summary: string; detail?: string | undefined }): Promise<void>
}

export function createStatusComments(): StatusComments {
  /** One after another for each issue or pull request, so that none of them writes a second comment. */
  const queue = createKeyedQueue()

  async function write(host: CodeHost, number: number, body: string): Promise<void> {
    const [login, comments] = await Promise.all([host.getLogin(), host.listComments(number)])
    const found = findStatus(comments, login)
    if (found === undefined) await host.createComment(number, body)
    else if (found.body !== body) await host.updateComment(found.id, body)
  }

  return {
    async show(host, number, { summary, detail }) {
      const { owner, name } = host.repository
      const key = `${host.repository.host}/${owner}/${name}#${number}`.toLowerCase()
      await queue.run(key, () => write(host, number, writeStatus(summary, detail)))
    },
  }
}
