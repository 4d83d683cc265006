// monitor: runs, and what a monitor has seen and done.
import { type Command, Option } from 'commander'
import type { Client } from '../../../client/client.ts'
import { commandHint } from '../../../client/command-hint.ts'
import {
  itemVerdicts,
  type MonitorEvent,
  type MonitorItem,
  type MonitorReviewRecord,
  type MonitorRun,
} from '../../../contract/api/monitors/monitor-records.ts'
import {
  createMonitorRun,
  dismissMonitorFinding,
  getMonitor,
  listMonitorEvents,
  listMonitorItems,
  listMonitorReviews,
  listMonitorRuns,
  publishMonitorReview,
} from '../../../contract/api/monitors/monitors.ts'
import { SvcError } from '../../../errors.ts'
import { callService, type ServiceCall } from '../../action.ts'
import type { CliContext } from '../../context.ts'
import { ExitSignal, exitCodes } from '../../failure.ts'
import { addWaitOption, answerEnded, waitUntil } from '../../follow/wait-until.ts'
import { namespaceQuery, readCountFlag, readGlobalOptions } from '../../global-options.ts'
import { explain, explainPublishing } from '../../monitors/explain.ts'
import { printAnswer } from '../../output/answers.ts'
import { addList, type ListCommand } from '../../output/list-command.ts'
import { type Column, formatAge } from '../../output/output.ts'
import { listPages } from '../../output/paging.ts'
import { explainPullRequest, readStory } from './monitor-why.ts'

type MonitorFlags = {
  pr?: string
  sha?: string
  verdict?: string
  type?: string
  limit?: string
  undo?: boolean
  wait?: boolean
}

/** In addition to what every kind has. */
export function addMonitorRecords(group: Command, context: CliContext): void {
  const add = (words: string, description: string) => group.command(words).description(description)
  addWaitOption(add('run <name>', 'look now, at every open pull request or at one'))
    .option('--pr <number>', 'only this pull request')
    .option('--sha <commit>', 'with --pr: only if this is its head, as the whole id of the commit')
    .action(callService(context, startRun))
  add('post <name>', 'post the last review of a pull request, whatever the monitor posts by itself')
    .requiredOption('--pr <number>', 'the pull request')
    .action(callService(context, post))
  addList(addLimit(add('runs <name>', 'runs, the last queued first')), context, runs)
  const list = addLimit(add('items <name>', 'pull requests that it knows, the last changed first'))
    .option('--pr <number>', 'only this one')
    .addOption(new Option('--verdict <verdict>', 'only those with this verdict').choices(itemVerdicts))
  addList(list, context, pullRequests)
  addLimit(add('reviews <name>', 'reviews with what they found, newest first'), '5')
    .option('--pr <number>', 'only of this pull request')
    .action(callService(context, showReviews))
  const listEvents = addLimit(add('events <name>', 'what it has done, newest first'))
    .option('--pr <number>', 'only about this pull request')
    .option('--type <word>', 'only of this type, such as item_skipped')
  addList(listEvents, context, events)
  group
    .command('why <pr> [name]')
    .description('why a pull request was not reviewed, or what came of it, and what to do: 42, or its address')
    .action((pr: string, name: string | undefined, _flags: MonitorFlags, command: Command) =>
      explainPullRequest({ pr, name }, { options: readGlobalOptions(command), context }),
    )
  addDismiss(group, context)
}

function addDismiss(group: Command, context: CliContext): void {
  group
    .command('dismiss <name> <finding>')
    .description('leave a finding out of later reviews of its pull request')
    .requiredOption('--pr <number>', 'the pull request')
    .option('--undo', 'let it count again')
    .action(callService(context, dismiss))
}

function addLimit(command: Command, standard = '20'): Command {
  return command.addOption(new Option('--limit <count>', 'at most so many').default(standard))
}

function readNumber(pr: string | undefined): number | undefined {
  return pr === undefined ? undefined : readCountFlag('--pr', pr.replace(/^#/, ''))
}

async function startRun(call: ServiceCall, name: string, { pr, sha: targetSHA, wait }: MonitorFlags): Promise<void> {
  const { client, options, context, query } = call
  const targetNumber = readNumber(pr)
  const body = { ...(targetNumber && { targetNumber }), ...(targetSHA !== undefined && { targetSHA }) }
  const run = await client.call(createMonitorRun, { params: { name }, query, body })
  if (wait) return followRun(call, run, targetNumber)
  const next = commandHint(targetNumber === undefined ? `monitor items ${name}` : `monitor why ${targetNumber} ${name}`)
  await printAnswer(context, options, run, () => `run ${run.id} queued; see what comes of it: ${next}`)
}

const allOf = (count: number) => `${count} ${count === 1 ? 'review' : 'reviews'}`

/** Until it has looked, and the reviews that it has started have ended. */
async function followRun(call: ServiceCall, { id, monitorName: name }: MonitorRun, number?: number): Promise<void> {
  const { client, context, query } = call
  const of = { params: { name }, query }
  const read = async () => {
    const { items } = await listPages<MonitorRun>(client, listMonitorRuns, { ...of, limit: 50 })
    const run = items.find((item) => item.id === id)
    if (run?.completedAt === undefined) return { run, queued: [] }
    const wanted = { ...of, query: { ...query, number, verdict: 'queued' } }
    return { run, queued: (await listPages<MonitorItem>(client, listMonitorItems, wanted)).items }
  }
  type Seen = Awaited<ReturnType<typeof read>>
  const hasEnded = ({ run, queued }: Seen) => run?.completedAt !== undefined && queued.length === 0
  const describe = (seen: Seen | undefined) =>
    seen === undefined || seen.queued.length === 0 ? `run ${id} looks` : `${allOf(seen.queued.length)} under way`
  const { run } = await waitUntil({ read, hasEnded, describe }, context)
  if (run?.phase === 'failed') {
    return answerEnded(call, run, { text: '', failure: `run ${id} failed: ${run.error ?? 'it does not say why'}` })
  }
  const failed = await listFailed(call, { id, monitorName: name })
  if (number !== undefined) {
    await explainPullRequest({ pr: String(number), name }, call)
    if (failed.length > 0) throw new ExitSignal(exitCodes.failed)
    return
  }
  const counts = `${allOf(run?.selectedCount ?? 0)}, ${run?.skippedCount} skipped`
  const text = `run ${id} has ended: ${counts}; ${commandHint(`monitor items ${name}`)} lists them`
  const why = `${commandHint(`monitor why ${failed[0]} ${name}`)} says why`
  const failure = failed.length > 0 ? `${allOf(failed.length)} failed, of ${failed.join(', ')}; ${why}` : undefined
  await answerEnded(call, run, { text, failure })
}

/** Pull requests whose review by this run came to nothing. */
async function listFailed(
  { client, query }: ServiceCall,
  { id: runID, monitorName: name }: Pick<MonitorRun, 'id' | 'monitorName'>,
): Promise<number[]> {
  const begun = { query: { ...query, name, runID, eventType: 'review_task_created' } }
  const { items: events } = await listPages<MonitorEvent>(client, listMonitorEvents, begun)
  const numbers = new Set(events.map(({ itemNumber }) => itemNumber))
  const failed = { params: { name }, query: { ...query, verdict: 'failed' } }
  const { items } = await listPages<MonitorItem>(client, listMonitorItems, failed)
  return items.map(({ number }) => number).filter((number) => numbers.has(number))
}

/** Until it is known what became of it. */
async function post(call: ServiceCall, name: string, { pr }: MonitorFlags): Promise<void> {
  const { client, context, query } = call
  const number = readNumber(pr) ?? 0
  const of = { params: { name }, query: { ...query, number }, limit: 1 }
  const read = async () => (await listPages<MonitorItem>(client, listMonitorItems, of)).items[0]
  const before = (await read())?.lastPublishID
  await client.call(publishMonitorReview, { params: { name, number: String(number) }, query })
  const hasEnded = ({ lastPublishID, lastPublishPhase }: MonitorItem) =>
    lastPublishID !== before && lastPublishPhase !== 'started'
  await waitUntil({ read, hasEnded, describe: () => `the review of pull request ${number} is being posted` }, context)
  const story = await readStory(client, await client.call(getMonitor, { params: { name }, query }), number, query)
  const { what, todo } = story.item === undefined ? explain(story) : explainPublishing(story.item, story)
  if (story.item?.lastPublishPhase === 'succeeded') return context.terminal.note(what)
  throw new SvcError('UpstreamFailed', todo === undefined ? what : `${what} What to do: ${todo}`)
}

/** Where nothing is known because the last run saw nothing. */
async function explainLastRun(
  client: Client,
  name: string,
  query: { namespace?: string },
): Promise<string | undefined> {
  const { items } = await listPages<MonitorRun>(client, listMonitorRuns, { params: { name }, query, limit: 1 })
  const [last] = items
  if (last === undefined) return `${name} has not looked yet: it has no runs`
  if (last.phase === 'failed') return `the last run failed: ${last.error ?? 'it does not say why'}`
  return last.completedAt === undefined ? `run ${last.id} is still under way` : undefined
}

async function showReviews(
  { client, options, context, query }: ServiceCall,
  name: string,
  { pr, limit }: MonitorFlags,
) {
  const page = { params: { name }, query: { ...query, number: readNumber(pr) }, limit: readCountFlag('--limit', limit) }
  const { items } = await listPages<MonitorReviewRecord>(client, listMonitorReviews, page)
  if (items.length === 0 && options.output === 'table') {
    context.terminal.note('no reviews')
    const why = await explainLastRun(client, name, query)
    return why === undefined ? undefined : context.terminal.note(why)
  }
  await printAnswer(context, options, items, () => items.map(formatReview).join('\n\n'))
}

async function dismiss(
  { client, context, query }: ServiceCall,
  name: string,
  id: string,
  { pr, undo = false }: MonitorFlags,
): Promise<void> {
  const params = { name, number: String(readNumber(pr)), id }
  await client.call(dismissMonitorFinding, { params, query, body: { dismissed: !undo } })
  context.terminal.note(`finding ${id} ${undo ? 'counts again' : 'is left out of later reviews'}`)
}

const shortSha = 10

function nameTarget({ targetNumber, targetSHA }: MonitorRun): string {
  if (targetNumber === undefined) return 'all'
  return targetSHA === undefined ? `#${targetNumber}` : `#${targetNumber} at ${targetSHA.slice(0, shortSha)}`
}

/** What it waits for, or why it failed. */
function noteOf({ error, heldUpUntil }: MonitorRun): string | undefined {
  return error ?? (heldUpUntil === undefined ? undefined : `held up until ${heldUpUntil}`)
}

export const runColumns = (now: Date): Column<MonitorRun>[] => [
  { title: 'AGE', value: ({ queuedAt }) => formatAge(queuedAt, now) },
  { title: 'ID', value: ({ id }) => id },
  { title: 'TRIGGER', value: ({ trigger }) => trigger },
  { title: 'TARGET', value: nameTarget },
  { title: 'PHASE', value: ({ phase }) => phase },
  { title: 'SELECTED', value: ({ selectedCount }) => selectedCount },
  { title: 'SKIPPED', value: ({ skippedCount }) => skippedCount },
  { title: 'NOTE', value: noteOf },
]

export const itemColumns = (now: Date): Column<MonitorItem>[] => [
  { title: 'PR', value: ({ number }) => number },
  { title: 'STATE', value: ({ state }) => state },
  { title: 'VERDICT', value: ({ lastVerdict }) => lastVerdict },
  { title: 'SKIPPED', value: ({ skipReason }) => skipReason },
  { title: 'PUBLISHED', value: ({ lastPublishPhase, lastPublishReason }) => lastPublishReason ?? lastPublishPhase },
  { title: 'HEAD', value: ({ headSHA }) => headSHA?.slice(0, shortSha) },
  { title: 'CHANGED', value: ({ updatedAt }) => formatAge(updatedAt, now) },
  { title: 'AUTHOR', value: ({ author }) => author },
  { title: 'URL', wide: true, value: ({ url }) => url },
  { title: 'TITLE', value: ({ title }) => title },
]

export const eventColumns = (now: Date): Column<MonitorEvent>[] => [
  { title: 'AGE', value: ({ createdAt }) => formatAge(createdAt, now) },
  { title: 'PR', value: ({ itemNumber }) => itemNumber },
  { title: 'EVENT', value: ({ eventType }) => eventType },
  { title: 'BY', value: ({ actor }) => actor },
  { title: 'RUN', wide: true, value: ({ runID }) => runID },
  { title: 'SUMMARY', value: ({ summary }) => summary },
]

const runs: ListCommand<MonitorRun> = {
  route: listMonitorRuns,
  pages: 'all',
  parameter: 'name',
  columns: runColumns,
  empty: (_scope, { args: [name] }) => `no runs; \`${commandHint(`monitor run ${name}`)}\` starts one`,
}

const pullRequests: ListCommand<MonitorItem, MonitorFlags> = {
  route: listMonitorItems,
  pages: 'all',
  parameter: 'name',
  filters: ({ pr, verdict }) => ({ number: readNumber(pr), verdict }),
  columns: itemColumns,
  empty: (_scope, { args: [name] }) => `no such pull requests; \`${commandHint(`monitor run ${name}`)}\` looks now`,
  explainEmpty: ({ args: [name = ''], options }, client) => explainLastRun(client, name, namespaceQuery(options)),
}

const events: ListCommand<MonitorEvent, MonitorFlags> = {
  route: listMonitorEvents,
  pages: 'all',
  filters: ({ pr, type }, { args: [name] }) => ({ name, itemNumber: readNumber(pr), eventType: type }),
  columns: eventColumns,
  empty: () => 'no such events',
}

type Finding = MonitorReviewRecord['findings'][number]

function formatFinding({ id, priority, file, line, title, body, recommendation, state }: Finding): string[] {
  const location = oneLine([file, line].filter((part) => part !== undefined).join(':'))
  return [
    `  ${priority} ${oneLine(title)}${location === '' ? '' : ` (${location})`}${state === 'new' ? '' : `, ${state}`}  ${id}`,
    ...[body, recommendation].flatMap((text) => (text ? [`     ${oneLine(text)}`] : [])),
  ]
}

function formatChecks({ status, reason, commands }: MonitorReviewRecord['validation']): string[] {
  if (commands.length === 0) return []
  const why = reason === undefined ? '' : `: ${oneLine(reason)}`
  if (status === 'not_run') return [`the checks could not be run${why}`]
  const each = commands.map(({ command, exitCode }) => `check \`${oneLine(command)}\`: ${exitCode ?? 'did not end'}`)
  return commands.some(({ exitCode }) => exitCode === undefined) ? [...each, `the checks ended early${why}`] : each
}

/** One line, whatever a model or a repository wrote. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** A review for people: what it is about, what it says, and each finding. */
export function formatReview(review: MonitorReviewRecord): string {
  const { number, headSHA, verdict, reason, createdAt, summary, validation, findings, taskName } = review
  return [
    `#${number} at ${headSHA.slice(0, shortSha)}: ${verdict}${reason === undefined ? '' : ` (${reason})`}, ${createdAt}, task ${taskName}`,
    oneLine(summary),
    ...formatChecks(validation),
    ...findings.flatMap(formatFinding),
  ].join('\n')
}
