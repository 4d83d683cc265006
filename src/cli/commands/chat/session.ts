// session: transcripts that tasks and chats continue.
import { type Command, Option } from 'commander'
import { typed } from '../../../client/typed.ts'
import {
  deleteSession,
  getSession,
  listSessions,
  type SessionItem,
  updateSession,
} from '../../../contract/api/chat/sessions.ts'
import { searchTranscripts, transcriptLimits } from '../../../contract/api/chat/transcripts.ts'
import type { CliContext } from '../../context.ts'
import { doEachName } from '../../failure.ts'
import { addAllNamespacesOption, namespaceOf, readCount, readGlobalOptions, scopeOf } from '../../global-options.ts'
import { describeScope, printAnswer, printList } from '../../output/answers.ts'
import { formatAge } from '../../output/output.ts'
import { listPages } from '../../output/paging.ts'

export function addSessionCommands(program: Command, context: CliContext): void {
  const session = program.command('session').description('conversations that tasks continue')
  addAllNamespacesOption(session.command('list'))
    .alias('ls')
    .description('sessions, newest first')
    .action((_options: unknown, command: Command) => listAll(command, context))
  session
    .command('get <name>')
    .description('the transcript of a session')
    .option('--tail <messages>', 'only the newest messages')
    .action((name: string, given: { tail?: string }, command: Command) => show(name, given, { command, context }))
  addAllNamespacesOption(session.command('search <query...>'))
    .description('messages that have all the words, the best match first; ""two words"" is a phrase')
    .option('--session <name>', 'only in this session')
    .option('--except <name>', 'not in this session')
    .option('--role <roles>', 'only what these speak: user, assistant, tool, system')
    .addOption(new Option('--limit <count>', 'at most so many').default(String(transcriptLimits.hits.standard)))
    .action((words: string[], given: SearchOptions, command: Command) => search(words, given, { command, context }))
  session
    .command('rename <name> <title...>')
    .description('give a session another title; its name stays')
    .action((name: string, words: string[], _options: unknown, command: Command) =>
      rename(name, words.join(' '), { command, context }),
    )
  session
    .command('delete <names...>')
    .alias('rm')
    .description('remove one session, or several, with their transcripts')
    .action(async (names: string[], _options: unknown, command: Command) => {
      const options = readGlobalOptions(command)
      const client = await context.connect(options)
      await doEachName(names, context.terminal, async (name) => {
        await client.call(deleteSession, { params: { id: name }, query: namespaceOf(options) })
        context.terminal.note(`session ${name} deleted`)
      })
    })
}

async function listAll(command: Command, context: CliContext): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  const { items } = await listPages<SessionItem>(client, listSessions, { query: scopeOf(options) })
  await printList(context, options, {
    items,
    columns: [
      { title: 'NAMESPACE', value: (item) => item.namespace },
      { title: 'NAME', value: (item) => item.name },
      { title: 'TYPE', value: (item) => item.sessionType },
      { title: 'TITLE', value: (item) => item.title },
      { title: 'MESSAGES', value: (item) => item.messageCount },
      { title: 'TASK', value: (item) => item.activeTask },
      { title: 'UPDATED', value: (item) => formatAge(item.updatedAt, context.now()) },
    ],
    empty: `no sessions${describeScope(options)}; \`${typed('run --session NAME "say hello"')}\` creates one`,
  })
}

type Invocation = { command: Command; context: CliContext }

async function show(name: string, { tail }: { tail?: string }, { command, context }: Invocation): Promise<void> {
  const options = readGlobalOptions(command)
  const window = tail === undefined ? {} : { maxMessages: readCount('--tail', tail) }
  const client = await context.connect(options)
  const session = await client.call(getSession, { params: { id: name }, query: { ...namespaceOf(options), ...window } })
  await printAnswer(context, options, session, () =>
    session.transcript.split('\n').filter(Boolean).map(formatMessage).join('\n\n'),
  )
}

async function rename(name: string, title: string, { command, context }: Invocation): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  const input = { params: { id: name }, query: namespaceOf(options), body: { title } }
  const session = await client.call(updateSession, input)
  await printAnswer(context, options, session, () => `session ${session.name} is called "${session.title}"`)
}

type SearchOptions = { session?: string; except?: string; role?: string; limit: string }

async function search(words: string[], given: SearchOptions, { command, context }: Invocation): Promise<void> {
  const options = readGlobalOptions(command)
  const query = {
    ...scopeOf(options),
    query: words.join(' '),
    sessionName: given.session,
    excludeSessionName: given.except,
    roles: given.role,
    limit: readCount('--limit', given.limit),
  }
  const client = await context.connect(options)
  const { items } = await client.call(searchTranscripts, { query })
  await printList(context, options, {
    items,
    columns: [
      { title: 'NAMESPACE', value: (item) => item.namespace },
      { title: 'SESSION', value: (item) => item.sessionName },
      { title: 'ROLE', value: (item) => (item.name === undefined ? item.role : `${item.role} ${item.name}`) },
      { title: 'AGE', value: (item) => formatAge(item.createdAt, context.now()) },
      { title: 'TEXT', value: (item) => item.snippet.replace(/\s+/g, ' ') },
    ],
    empty: `no message${describeScope(options)} has all of these words`,
  })
}

function formatMessage(line: string): string {
  const message = JSON.parse(line) as { role: string; content: string; name?: string }
  const who = message.name === undefined ? message.role : `${message.role} ${message.name}`
  return `${who}:\n${message.content}`
}
