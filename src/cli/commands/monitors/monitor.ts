// monitor: runs, and what a monitor has seen and done.
import { type Command, Option } from 'commander'
import { typed } from '../../../client/typed.ts'
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
  listMonitorEvents,
  listMonitorItems,
  listMonitorReviews,
  listMonitorRuns,
} from '../../../contract/api/monitors/monitors.ts'
import type { CliContext } from '../../context.ts'
import { namespaceOf, readCount, readGlobalOptions } from '../../global-options.ts'
import { eventColumns, formatReview, itemColumns, runColumns } from '../../monitors/tables.ts'
import { printAnswer, printList } from '../../output/answers.ts'
import { listPages } from '../../output/paging.ts'
import { explainPullRequest } from './monitor-why.ts'

type Given = { pr?: string; sha?: string; verdict?: string; type?: string; limit?: string; undo?: boolean }
type Invocation = { command: Command; context: CliContext }
type Action = (name: string, given: Given, invocation: Invocation) => Promise<void>

/** In addition to what every kind has. */
export function addMonitorRecords(group: Command, context: CliContext): void {
  const add = (words: string, description: string, act: Action) =>
    group
      .command(words)
      .description(description)
      .action((name: string, given: Given, command: Command) => act(name, given, { command, context }))
  add('run <name>', 'look now, at every open pull request or at one', startRun)
    .option('--pr <number>', 'only this pull request')
    .option('--sha <commit>', 'with --pr: only if this is its head, as the whole id of the commit')
  addLimit(add('runs <name>', 'runs, the last queued first', showRuns))
  addLimit(add('items <name>', 'pull requests that it knows, the last changed first', showItems))
    .option('--pr <number>', 'only this one')
    .addOption(new Option('--verdict <verdict>', 'only those with this verdict').choices(itemVerdicts))
  addLimit(add('reviews <name>', 'reviews with what they found, newest first', showReviews), '5').option(
    '--pr <number>',
    'only of this pull request',
  )
  addLimit(add('events <name>', 'what it has done, newest first', showEvents))
    .option('--pr <number>', 'only about this pull request')
    .option('--type <word>', 'only of this type, such as item_skipped')
  group
    .command('why <pr> [name]')
    .description('why a pull request was not reviewed, or what came of it, and what to do: 42, or its address')
    .action((pr: string, name: string | undefined, _given: Given, command: Command) =>
      explainPullRequest({ pr, name }, { command, context }),
    )
  addDismiss(group, context)
}

function addDismiss(group: Command, context: CliContext): void {
  group
    .command('dismiss <name> <finding>')
    .description('leave a finding out of later reviews of its pull request')
    .requiredOption('--pr <number>', 'the pull request')
    .option('--undo', 'let it count again')
    .action((name: string, id: string, given: Given, command: Command) =>
      dismiss({ name, id }, given, { command, context }),
    )
}

function addLimit(command: Command, standard = '20'): Command {
  return command.addOption(new Option('--limit <count>', 'at most so many').default(standard))
}

function readNumber(pr: string | undefined): number | undefined {
  return pr === undefined ? undefined : readCount('--pr', pr.replace(/^#/, ''))
}

async function startRun(name: string, { pr, sha: targetSHA }: Given, { command, context }: Invocation): Promise<void> {
  const options = readGlobalOptions(command)
  const targetNumber = readNumber(pr)
  const client = await context.connect(options)
  const run = await client.call(createMonitorRun, {
    params: { name },
    query: namespaceOf(options),
    body: { ...(targetNumber && { targetNumber }), ...(targetSHA !== undefined && { targetSHA }) },
  })
  const next = typed(targetNumber === undefined ? `monitor items ${name}` : `monitor why ${targetNumber} ${name}`)
  await printAnswer(context, options, run, () => `run ${run.id} queued; see what comes of it: ${next}`)
}

async function showRuns(name: string, { limit }: Given, { command, context }: Invocation): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  const page = { params: { name }, query: namespaceOf(options), limit: readCount('--limit', limit) }
  const { items } = await listPages<MonitorRun>(client, listMonitorRuns, page)
  const empty = `no runs; \`${typed(`monitor run ${name}`)}\` starts one`
  await printList(context, options, { items, columns: runColumns(context.now()), empty })
}

async function showItems(name: string, given: Given, { command, context }: Invocation): Promise<void> {
  const options = readGlobalOptions(command)
  const query = { ...namespaceOf(options), number: readNumber(given.pr), verdict: given.verdict }
  const client = await context.connect(options)
  const page = { params: { name }, query, limit: readCount('--limit', given.limit) }
  const { items } = await listPages<MonitorItem>(client, listMonitorItems, page)
  const empty = `no such pull requests; \`${typed(`monitor run ${name}`)}\` looks now`
  await printList(context, options, { items, columns: itemColumns(context.now()), empty })
}

async function showEvents(name: string, given: Given, { command, context }: Invocation): Promise<void> {
  const options = readGlobalOptions(command)
  const query = { ...namespaceOf(options), name, itemNumber: readNumber(given.pr), eventType: given.type }
  const client = await context.connect(options)
  const page = { query, limit: readCount('--limit', given.limit) }
  const { items } = await listPages<MonitorEvent>(client, listMonitorEvents, page)
  await printList(context, options, { items, columns: eventColumns(context.now()), empty: 'no such events' })
}

async function showReviews(name: string, given: Given, { command, context }: Invocation): Promise<void> {
  const options = readGlobalOptions(command)
  const query = { ...namespaceOf(options), number: readNumber(given.pr) }
  const client = await context.connect(options)
  const page = { params: { name }, query, limit: readCount('--limit', given.limit) }
  const { items } = await listPages<MonitorReviewRecord>(client, listMonitorReviews, page)
  if (items.length === 0 && options.output === 'table') return context.terminal.note('no reviews')
  await printAnswer(context, options, items, () => items.map(formatReview).join('\n\n'))
}

async function dismiss(
  { name, id }: { name: string; id: string },
  { pr, undo = false }: Given,
  { command, context }: Invocation,
): Promise<void> {
  const options = readGlobalOptions(command)
  const number = String(readNumber(pr))
  const client = await context.connect(options)
  const target = { params: { name, number, id }, query: namespaceOf(options) }
  await client.call(dismissMonitorFinding, { ...target, body: { dismissed: !undo } })
  context.terminal.note(`finding ${id} ${undo ? 'counts again' : 'is left out of later reviews'}`)
}
