// task logs, result, events, artifacts and download: what a task leaves behind.
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { readEvents } from '../../client/event-stream.ts'
import type { TimelineEvent } from '../../contract/api/task-records.ts'
import {
  getTaskArtifact,
  getTaskEvents,
  getTaskLogs,
  getTaskResult,
  listTaskArtifacts,
} from '../../contract/api/tasks.ts'
import { SvcError } from '../../errors.ts'
import { printAnswer, printList } from '../answers.ts'
import { ExitSignal, exitCodes } from '../failure.ts'
import { readCount } from '../global-options.ts'
import { formatSize } from '../output.ts'
import { listPages } from '../paging.ts'
import { type AddTaskCommand, type TaskCall, targetOf } from './task-call.ts'

export function addTaskRecordCommands(add: AddTaskCommand): void {
  add('logs <name>', 'what it wrote', showLogs)
    .option('-f, --follow', 'keep printing until the task ends')
    .option('--tail <lines>', 'only the last lines')
  add('result <name>', 'what it produced', showResult)
  add('events <name>', 'what happened to it, in order', showEvents)
  add('artifacts <name>', 'files that it left', listArtifacts)
  add('download <name> <file>', 'fetch one of its files into this folder', download)
    .option('--to <path>', 'write it there; `-` is standard output')
    .addHelpText('after', '\n`svc task artifacts NAME` lists the files.')
}

async function showLogs(call: TaskCall, name: string): Promise<void> {
  const { client, options, context, given } = call
  const { params, query: place } = targetOf(name, options)
  const query = { ...place, ...(given.tail === undefined ? {} : { tailLines: readCount('--tail', given.tail) }) }
  if (given.follow) return followLogs(call, { params, query: { ...query, follow: true } })
  const answer = await client.call(getTaskLogs, { params, query })
  if (answer.logs === '' && options.output === 'table') context.terminal.note(`${name} has written nothing yet`)
  else await printAnswer(context, options, answer, () => answer.logs.replace(/\n$/, ''))
}

async function followLogs({ client, context }: TaskCall, input: Parameters<typeof client.call<typeof getTaskLogs>>[1]) {
  const done = await context.interruptible(async (signal) => {
    const lines = readEvents(client, getTaskLogs, { ...input, signal })
    for await (const event of lines) context.terminal.print(event.data)
    return true
  })
  if (!done) throw new ExitSignal(exitCodes.interrupted)
}

async function showResult({ client, options, context }: TaskCall, name: string): Promise<void> {
  const answer = await client.call(getTaskResult, targetOf(name, options))
  await printAnswer(context, options, answer, () => answer.result.replace(/\n$/, ''))
}

async function showEvents({ client, options, context }: TaskCall, name: string): Promise<void> {
  const { params, query } = targetOf(name, options)
  const { items } = await listPages<TimelineEvent>(client, getTaskEvents, { query, params })
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

async function listArtifacts({ client, options, context }: TaskCall, name: string): Promise<void> {
  const { items } = await client.call(listTaskArtifacts, targetOf(name, options))
  await printList(context, options, {
    items,
    columns: [
      { title: 'FILE', value: (artifact) => artifact.filename },
      { title: 'SIZE', value: (artifact) => formatSize(artifact.size) },
      { title: 'TYPE', value: (artifact) => artifact.contentType },
    ],
    empty: `${name} has left no files`,
  })
}

/** Writes the file into the present folder, under its last name only, and never over another. */
async function download({ client, options, context, given, more }: TaskCall, name: string): Promise<void> {
  const [file = ''] = more
  const { params, query } = targetOf(name, options)
  const response = await client.open(getTaskArtifact, { params: { ...params, filename: file }, query })
  if (!response.body) return
  const source = Readable.fromWeb(response.body)
  const to = typeof given.to === 'string' ? given.to : basename(file)
  if (to === '-') return pipeline(source, context.standardOutput, { end: false })
  const isWhole = await context.interruptible((signal) => writeFile(source, to, signal))
  if (!isWhole) throw new ExitSignal(exitCodes.interrupted)
  context.terminal.note(`wrote ${to}`)
}

async function writeFile(source: Readable, path: string, signal: AbortSignal): Promise<true> {
  try {
    await pipeline(source, createWriteStream(path, { flags: 'wx' }), { signal })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
      throw new SvcError('InvalidRequest', `${path} is here already: move it away, or name another with --to`)
    }
    // Half a file is worse than none; it is this command's own, as it was made anew.
    await rm(path, { force: true })
    throw error
  }
}
