// memory: what agents and people want to be remembered beyond one task.
import type { Command } from 'commander'
import { commandHint } from '../../../client/command-hint.ts'
import {
  createMemory,
  deleteMemory,
  disableMemory,
  enableMemory,
  getMemory,
  listMemories,
  type Memory,
  updateMemory,
} from '../../../contract/api/memory/memories.ts'
import { callForEach, callService, type ServiceCall } from '../../action.ts'
import type { CliContext } from '../../context.ts'
import { readCountFlag } from '../../global-options.ts'
import { printAnswer } from '../../output/answers.ts'
import { addList, type ListCommand } from '../../output/list-command.ts'
import { formatAge } from '../../output/output.ts'

type ListOptions = { agent?: string; task?: string; source?: string; tags?: string; all?: boolean; limit?: string }
type AddOptions = { id?: string; tags?: string; agent?: string; source?: string; supersedes?: string }

export function addMemoryCommands(program: Command, context: CliContext): void {
  const memory = program.command('memory').description('what is remembered beyond one task')
  const list = addListOptions(memory.command('list').alias('ls')).description('memories, the last changed first')
  addList(list, context, memories)
  const search = addListOptions(memory.command('search <words...>'))
  addList(search.description('memories that have any of the words, the best match first'), context, memories)
  memory
    .command('add <text...>')
    .description('remember a text')
    .option('--id <id>', 'its id, instead of one that the service makes')
    .option('--tags <tags>', 'words to filter by, with commas between them')
    .option('--agent <name>', 'agent that it comes from')
    .option('--source <word>', 'how it came about (default: manual)')
    .option('--supersedes <id>', 'older memory that it replaces, which is kept but not recalled any more')
    .action(callService(context, add))
  memory
    .command('show <id>')
    .alias('get')
    .description('a memory, with where it comes from')
    .action(callService(context, show))
  memory.command('edit <id>').description('change its text in your editor').action(callService(context, edit))
  addStep(memory, context, { name: 'disable', route: disableMemory, done: 'disabled', what: 'leave out of recall' })
  addStep(memory, context, { name: 'enable', route: enableMemory, done: 'enabled', what: 'put back into recall' })
  addStep(memory, context, { name: 'remove', route: deleteMemory, done: 'removed', what: 'mark as deleted' }).alias(
    'rm',
  )
}

function addListOptions(command: Command): Command {
  return command
    .option('--agent <name>', 'only those of this agent')
    .option('--task <name>', 'only those of this task')
    .option('--source <word>', 'only those that came about so, such as manual')
    .option('--tags <tags>', 'only those with all of these tags, with commas between them')
    .option('--all', 'also those that are disabled, superseded or deleted')
    .option('--limit <count>', 'at most so many')
}

type Step = {
  name: string
  route: typeof disableMemory | typeof enableMemory | typeof deleteMemory
  done: string
  what: string
}

function addStep(memory: Command, context: CliContext, { name, route, done, what }: Step): Command {
  return memory
    .command(`${name} <ids...>`)
    .description(`${what}: one memory, or several`)
    .action(
      callForEach(context, async ({ client, query }, id) => {
        await client.call(route, { params: { id }, query })
        return `memory ${id} ${done}`
      }),
    )
}

function stateOf({ deleted, disabled, supersededBy }: Memory): string | undefined {
  if (deleted) return 'deleted'
  if (supersededBy !== undefined) return `superseded by ${supersededBy}`
  return disabled ? 'disabled' : undefined
}

const memories: ListCommand<Memory, ListOptions> = {
  route: listMemories,
  filters: ({ agent, task, source, tags, all = false, limit }, { args }) => ({
    query: args.length === 0 ? undefined : args.join(' '),
    agentName: agent,
    taskName: task,
    source,
    tags,
    includeDisabled: all,
    includeDeleted: all,
    limit: limit === undefined ? undefined : readCountFlag('--limit', limit),
  }),
  columns: (now) => [
    { title: 'ID', value: (item) => item.id },
    { title: 'STATE', value: stateOf },
    { title: 'TAGS', value: (item) => item.tags?.join(',') },
    { title: 'AGENT', value: (item) => item.agentName },
    { title: 'RECALLED', value: (item) => item.recalledCount || undefined },
    { title: 'CHANGED', value: (item) => formatAge(item.updatedAt, now) },
    { title: 'TEXT', value: (item) => item.content.replace(/\s+/g, ' ').trim() },
  ],
  empty: (scope, { args }) =>
    `no memories${scope}${args.length === 0 ? `; \`${commandHint('memory add "TEXT"')}\` adds one` : ' with any of these words'}`,
}

async function add(
  { client, options, context, query }: ServiceCall,
  words: string[],
  flags: AddOptions,
): Promise<void> {
  const { id, tags, agent: agentName, source, supersedes } = flags
  const body = { content: words.join(' '), id, tags: tags?.split(','), agentName, source, supersedes }
  const made = await client.call(createMemory, { query, body })
  await printAnswer(context, options, made, () => `memory ${made.id} added`)
}

function describe(memory: Memory): string {
  const facts: [string, string | number | undefined][] = [
    ['state', stateOf(memory)],
    ['tags', memory.tags?.join(', ')],
    ['source', memory.source],
    ['agent', memory.agentName],
    ['task', memory.taskName],
    ['session', memory.sessionName],
    ['proposal', memory.sourceProposalId],
    ['supersedes', memory.supersedes],
    ['written by', memory.createdBy?.name],
    ['changed', memory.updatedAt],
    ['recalled', memory.recalledCount === 0 ? 'never' : `${memory.recalledCount} times, last ${memory.lastRecalledAt}`],
  ]
  const lines = facts.flatMap(([name, value]) => (value === undefined || value === '' ? [] : [`${name}: ${value}`]))
  return [memory.content, '', ...lines].join('\n')
}

async function show({ client, options, context, query }: ServiceCall, id: string): Promise<void> {
  const memory = await client.call(getMemory, { params: { id }, query })
  await printAnswer(context, options, memory, () => describe(memory))
}

async function edit({ client, context, query }: ServiceCall, id: string): Promise<void> {
  const { content: before } = await client.call(getMemory, { params: { id }, query })
  const content = (await context.editText(before, `${id}.md`)).replace(/\n$/, '')
  if (content === before) return context.terminal.note(`memory ${id} is unchanged`)
  await client.call(updateMemory, { params: { id }, query, body: { content } })
  context.terminal.note(`memory ${id} was changed`)
}
