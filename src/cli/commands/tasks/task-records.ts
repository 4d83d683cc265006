// task logs, result, events, artifacts, download, diff and apply: what a task leaves behind.
import { basename } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Option } from 'commander'
import { commandHint } from '../../../client/command-hint.ts'
import { readEvents } from '../../../client/event-stream.ts'
import { type FollowedLogQuery, followLog } from '../../../client/task-log.ts'
import { type LineLevel, logLevels } from '../../../contract/api/tasks/log-marks.ts'
import { readStructuredResult } from '../../../contract/api/tasks/structured-result.ts'
import type { ArtifactItem, TimelineEvent } from '../../../contract/api/tasks/task-records.ts'
import { getTaskEvents, getTaskLogs, getTaskResult, listTaskArtifacts } from '../../../contract/api/tasks/tasks.ts'
import { SvcError } from '../../../errors.ts'
import { describeBytes } from '../../../lib/bytes.ts'
import { dropUndefined } from '../../../lib/json.ts'
import { ExitSignal, exitCodes } from '../../failure.ts'
import { isOfGit, listFiles, localPathOf, openFile, type TaskTarget, writeFile } from '../../files/artifact-files.ts'
import { runUserGit } from '../../files/run-git.ts'
import { readSince, readTail } from '../../global-options.ts'
import { printAnswer, printList } from '../../output/answers.ts'
import { printDiff } from '../../output/diff-text.ts'
import { type ListCommand, showList } from '../../output/list-command.ts'
import { listPages } from '../../output/paging.ts'
import { type AddTaskCommand, type TaskCall, taskTargetOf } from './task-call.ts'

export function addTaskRecordCommands(add: AddTaskCommand): void {
  add('logs <name>', 'what it wrote', showLogs)
    .option('-f, --follow', 'keep printing until the task ends')
    .option('--tail <lines>', 'only the last lines; with --follow and 0: what it writes from now on', 'all')
    .option('--attempt <number>', 'only what this attempt wrote')
    .option('--since <time>', 'only from then on: 5m, 12h, 7d, or a time (2026-01-31T00:00:00Z)')
    .option('--stderr', 'only what went to stderr, and what is said about the run')
    .option('--timestamps', 'each line after its time')
    .addOption(
      new Option('--level <level>', 'of what is said about the run, only what is so serious; debug: calls of tools too')
        .choices(logLevels)
        .default('info'),
    )
  add('result <name>', 'what it produced', showResult)
  add('events <name>', 'what happened to it, in order', showEvents).option(
    '-f, --follow',
    'keep printing until the task ends',
  )
  add('artifacts <name>', 'files that it left', (call, name) =>
    showList(artifacts, { ...call, args: [name] }, call.client),
  )
  add('download <name> [file]', 'download one of its files into this folder, or all of them', download)
    .option('--all', 'every file, into a folder named after the task')
    .option('--to <path>', 'where to write; for a single file `-` is standard output')
    .addHelpText('after', `\n\`${commandHint('task artifacts NAME')}\` lists the files.`)
}

async function showLogs(call: TaskCall, name: string): Promise<void> {
  const { client, options, context, flags } = call
  const { params, query: scope } = taskTargetOf(name, options)
  const since = readSince('--since', flags.since === undefined ? undefined : String(flags.since), context.now())
  const query = {
    ...scope,
    ...dropUndefined({ attempt: flags.attempt === undefined ? undefined : Number(flags.attempt), since }),
    ...(flags.stderr === true && { stream: 'stderr' as const }),
    ...(flags.timestamps === true && { timestamps: true }),
    level: flags.level as LineLevel,
    tailLines: readTail(String(flags.tail)),
  }
  if (flags.follow) return followLogs(call, { params, query })
  const answer = await client.call(getTaskLogs, { params, query })
  if (answer.logs === '' && options.output === 'table') context.terminal.note(describeNoLines(name, flags))
  else await printAnswer(context, options, answer, () => answer.logs.replace(/\n$/, ''))
}

/** What somebody left out by a flag may be there. */
function describeNoLines(name: string, flags: TaskCall['flags']): string {
  const { tail, level } = flags
  const narrows: Record<string, boolean> = { tail: tail === '0', level: level !== 'info' && level !== 'debug' }
  const flagNames = ['attempt', 'since', 'stderr', 'tail', 'level']
  const narrowing = flagNames.filter((flag) => narrows[flag] ?? flags[flag] !== undefined)
  if (narrowing.length === 0) return `${name} has written nothing so far`
  return `${name} has written nothing so far that ${narrowing.map((flag) => `--${flag}`).join(' and ')} would show`
}

type LogTarget = TaskTarget & { query: FollowedLogQuery }

type Lines = ReturnType<TaskCall['context']['terminal']['printLines']>

/** Prints until there is no more, or somebody interrupts. */
async function printOn(
  { context }: TaskCall,
  print: (lines: Lines, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const lines = context.terminal.printLines()
  const done = await context
    .interruptible(async (signal) => {
      await print(lines, signal)
      return true
    })
    .finally(lines.end)
  if (!done) throw new ExitSignal(exitCodes.interrupted)
}

function followLogs(call: TaskCall, target: LogTarget): Promise<void> {
  return printOn(call, async (lines, signal) => {
    for await (const item of followLog(call.client, { ...target, signal })) {
      if (typeof item === 'string') lines.line(item)
      else lines.part(item)
    }
  })
}

async function showResult({ client, options, context }: TaskCall, name: string): Promise<void> {
  const answer = await client.call(getTaskResult, taskTargetOf(name, options))
  await printAnswer(context, options, answer, () => answer.result.replace(/\n$/, ''))
}

function describeEvent({ createdAt, type, phase, message }: TimelineEvent): string {
  return [createdAt, type, phase, message].filter((part) => part !== undefined).join('  ')
}

/** As a table, lines for people; else one JSON object a line. */
function followEvents(call: TaskCall, { params, query }: TaskTarget): Promise<void> {
  const isTable = call.options.output === 'table'
  return printOn(call, async (lines, signal) => {
    const input = { params, query: { ...query, follow: true }, signal }
    for await (const { data } of readEvents(call.client, getTaskEvents, input)) {
      lines.line(isTable ? describeEvent(JSON.parse(data) as TimelineEvent) : data)
    }
  })
}

async function showEvents(call: TaskCall, name: string): Promise<void> {
  const { client, options, context, flags } = call
  const target = taskTargetOf(name, options)
  if (flags.follow) return followEvents(call, target)
  const { items } = await listPages<TimelineEvent>(client, getTaskEvents, target)
  await printList(context, options, {
    items: items.toReversed(),
    columns: [
      { title: 'TIME', value: (event) => event.createdAt },
      { title: 'ATTEMPT', value: (event) => event.attempt },
      { title: 'TYPE', value: (event) => event.type },
      { title: 'PHASE', value: (event) => event.phase },
      { title: 'MESSAGE', value: (event) => event.message },
    ],
    empty: 'nothing has happened to it yet',
  })
}

const artifacts: ListCommand<ArtifactItem> = {
  route: listTaskArtifacts,
  parameter: 'id',
  columns: () => [
    { title: 'FILE', value: (artifact) => artifact.filename },
    { title: 'SIZE', value: (artifact) => describeBytes(artifact.size) },
    { title: 'TYPE', value: (artifact) => artifact.contentType },
  ],
  empty: (_scope, { args: [name] }) => `${name} has left no files`,
}

/** One file into the current folder under its last name, or all into a folder by path; never over an existing one. */
async function download(call: TaskCall, name: string): Promise<void> {
  const { client, options, context, flags, more } = call
  const target = taskTargetOf(name, options)
  const to = typeof flags.to === 'string' ? flags.to : undefined
  if (flags.all) return downloadAll(call, target, to ?? name)
  const [file] = more
  if (file === undefined) throw new SvcError('InvalidRequest', 'name a file, or download all with --all')
  const source = await openFile(client, target, file)
  if (to === '-') return pipeline(source, context.standardOutput, { end: false })
  await fetchTo(call, source, to ?? basename(file))
}

async function downloadAll(call: TaskCall, target: TaskTarget, folder: string): Promise<void> {
  const files = await listFiles(call.client, target)
  if (files.length === 0) return call.context.terminal.note(`${target.params.id} has left no files`)
  for (const { filename } of files) {
    if (isOfGit(filename)) {
      call.context.terminal.note(`left out: ${filename}: it would be part of a Git repository; --to fetches it alone`)
      continue
    }
    const path = localPathOf(folder, filename)
    await fetchTo(call, await openFile(call.client, target, filename), path)
  }
}

async function fetchTo({ context }: TaskCall, source: Readable, path: string): Promise<void> {
  const isWhole = await context.interruptible((signal) => writeFile(source, path, signal))
  if (!isWhole) throw new ExitSignal(exitCodes.interrupted)
  context.terminal.note(`wrote ${path}`)
}

export function addTaskDiffCommands(add: AddTaskCommand): void {
  add('diff <name>', 'what it changed in its git repository', showDiff)
  add('apply <name>', 'bring what it changed into the git checkout of this folder; commits nothing', applyDiff)
}

/** InvalidRequest for a task that did not work in a repository. */
async function readChanges({ client, options, context }: TaskCall, name: string) {
  const { result } = await client.call(getTaskResult, taskTargetOf(name, options))
  const { diff, diffTruncated = false, files = [], baseSHA } = readStructuredResult(result)
  if (diff === undefined) {
    const advice = `\`${commandHint(`task result ${name}`)}\` shows what it said`
    throw new SvcError('InvalidRequest', `${name} has no diff, because it did not work in a git repository; ${advice}`)
  }
  if (diffTruncated) context.terminal.note('the diff is incomplete, because it is too large')
  return { diff, diffTruncated, files, baseSHA }
}

async function showDiff(call: TaskCall, name: string): Promise<void> {
  await printDiff(call, await readChanges(call, name), `${name} changed nothing`)
}

async function applyDiff(call: TaskCall, name: string): Promise<void> {
  const { context } = call
  const { diff, diffTruncated, files, baseSHA } = await readChanges(call, name)
  if (diffTruncated) throw new SvcError('InvalidRequest', `nothing is applied: the diff of ${name} is incomplete`)
  if (diff === '') return context.terminal.note(`${name} changed nothing`)
  // Paths of a diff begin at the top of the checkout.
  const top = await runUserGit(['rev-parse', '--show-toplevel'], '', 'this folder is not a git checkout')
  const why = `it does not fit this checkout (the task began at ${baseSHA?.slice(0, 12)}), and nothing was changed`
  await runUserGit(['-C', top.trim(), 'apply', '--whitespace=nowarn', '-'], diff, why)
  context.terminal.note(files.map((path) => `changed ${path}`).join('\n'))
}
