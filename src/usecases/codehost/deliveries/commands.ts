// Obeys commands in comments, for those who may write to the repository: a reaction, and one comment that says what came of it.
import type { DeliveryOutcome } from '../../../contract/api/codehost/deliveries.ts'
import type { CodeHostEvent, CodeHostRepository, CodeHostTarget } from '../../../contract/api/codehost/events.ts'
import { type Repository, readRepositoryUrl, repositoryUrlOf } from '../../../contract/values/repository-url.ts'
import { SvcError } from '../../../errors.ts'
import { type CodeHost, repositoryPermissions } from '../../../ports/codehost/code-host.ts'
import type { Delivery } from '../../../ports/codehost/deliveries.ts'
import type { CommandVerb } from '../../../rules/codehost/command.ts'
import { cancelStarted } from './cancel-started.ts'
import type { CarryingOut, QueuedRuns } from './carrying.ts'
import { describeCancelled } from './endings.ts'
import { createTask } from './label-task.ts'
import type { StatusComments } from './status-comments.ts'

export type Commanding = Pick<CarryingOut, 'ports' | 'resources' | 'settings' | 'withdraw'> & {
  /** With the login of label triggers. */
  openHost(repository: Repository): CodeHost
  queueRuns(event: CodeHostEvent, delivery: string): Promise<QueuedRuns | undefined>
  statusComments: StatusComments
}

type Command = { event: CodeHostEvent; target: CodeHostTarget; delivery: string; verb: CommandVerb; host: CodeHost }

const leastPermission = repositoryPermissions.indexOf('write')

function repositoryOf({ repository }: CodeHostEvent, hosts: readonly string[]): Repository {
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

async function startTask(commanding: Commanding, command: Command, target: CodeHostTarget): Promise<DeliveryOutcome> {
  const { event, delivery, verb } = command
  return createTask(commanding, { event, target, delivery, action: verb, by: 'codehost-command' })
}

async function review(commanding: Commanding, command: Command): Promise<DeliveryOutcome> {
  const { event, delivery } = command
  if (command.target.kind === 'issue')
    throw new SvcError('InvalidRequest', '/svc review is for pull requests, and this is an issue')
  const target = await readHead(command)
  const runs = await commanding.queueRuns({ ...event, target }, delivery)
  if (runs === undefined || runs.matchedMonitors === 0) return startTask(commanding, command, target)
  const message = `a review at ${target.head?.sha.slice(0, 8)} is queued; it is posted here when it is done`
  return { status: 'created', code: 201, message, ...runs }
}

async function stop(commanding: Commanding, { event }: Command): Promise<DeliveryOutcome> {
  const why = `${event.sender} wrote /svc stop`
  const started = await cancelStarted(commanding.ports, event, { why })
  const reviews = await commanding.withdraw?.(event, { isClosed: false, why })
  const cancelledTasks = [...started, ...(reviews?.cancelledTasks ?? [])]
  const cancelled = { cancelledTasks, cancelledRuns: reviews?.cancelledRuns ?? [] }
  return { status: 'accepted', code: 202, message: `${why}: ${describeCancelled(cancelled)}`, ...cancelled }
}

const verbs: Record<CommandVerb, (commanding: Commanding, command: Command) => Promise<DeliveryOutcome>> = {
  review,
  stop,
  explain: async (commanding, command) => startTask(commanding, command, await readHead(command)),
}

/** What the sender or the operator has to change is told to them; anything else is tried again. */
function describeRefusal(error: unknown): DeliveryOutcome {
  if (!(error instanceof SvcError) || !['InvalidRequest', 'NotConfigured', 'BudgetExceeded'].includes(error.reason))
    throw error
  return { status: 'failed', message: error.message }
}

/** Until those that came before are done, so that the comment tells of the newest in the end. */
async function waitForTurn({ ports }: Commanding, { repository, number, id, receivedAt }: Delivery): Promise<void> {
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
export async function obey(commanding: Commanding, delivery: Delivery, verb: CommandVerb): Promise<DeliveryOutcome> {
  const { facts: event, id } = delivery
  const { target, comment } = event ?? {}
  if (event === undefined || target === undefined || comment === undefined) return delivery.outcome
  const host = commanding.openHost(repositoryOf(event, commanding.settings.hosts))
  const { number } = target
  const permission = await host.getPermission(event.sender)
  if (repositoryPermissions.indexOf(permission) < leastPermission) {
    await host.addReaction({ number, comment: comment.id }, '-1')
    const message = `${event.sender} has the right "${permission}" in ${event.repository.fullName}; commands need "write"`
    return { status: 'ignored', code: 202, message }
  }
  await waitForTurn(commanding, delivery)
  await host.addReaction({ number, comment: comment.id }, 'eyes')
  const command = { event, target, delivery: id, verb, host }
  const outcome = await verbs[verb](commanding, command).catch(describeRefusal)
  const summary = `\`/svc ${verb}\` by ${event.sender}: ${outcome.message}`
  await commanding.statusComments.show(host, number, { summary })
  return { ...outcome, action: verb }
}
