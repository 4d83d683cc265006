// session: transcripts that tasks and chats continue.
import { type Command, Option } from 'commander'
import { commandHint } from '../../../client/command-hint.ts'
import {
  deleteSession,
  getSession,
  getSessionTrace,
  listSessions,
  type SessionItem,
  updateSession,
} from '../../../contract/api/chat/sessions.ts'
import { searchTranscripts, type TranscriptHit, transcriptLimits } from '../../../contract/api/chat/transcripts.ts'
import { callForEach, callService, type ServiceCall } from '../../action.ts'
import type { CliContext } from '../../context.ts'
import { addAllNamespacesOption, readCountFlag } from '../../global-options.ts'
import { printAnswer } from '../../output/answers.ts'
import { addList, type ListCommand } from '../../output/list-command.ts'
import { formatAge } from '../../output/output.ts'
import { showTrace } from '../../output/trace-command.ts'

export function addSessionCommands(program: Command, context: CliContext): void {
  const session = program.command('session').description('conversations that tasks continue')
  const list = addAllNamespacesOption(session.command('list')).alias('ls').description('sessions, newest first')
  addList(list, context, sessions)
  session
    .command('get <name>')
    .alias('show')
    .description('the transcript of a session')
    .option('--tail <messages>', 'only the newest messages')
    .action(callService(context, show))
  session
    .command('trace <name>')
    .description('what the turns of a chat did, step by step: calls of models and tools with times, tokens and cost')
    .option('-f, --follow', 'go on until no turn runs')
    .option('--turn <number>', 'only this turn')
    .action(
      callService(context, (call, name: string, { follow = false, turn }: { follow?: boolean; turn?: string }) =>
        showTrace(call, { route: getSessionTrace, name, follow, attempt: turn }),
      ),
    )
  const search = addAllNamespacesOption(session.command('search <query...>'))
    .description('messages that have all the words, the best match first; ""two words"" is a phrase')
    .option('--session <name>', 'only in this session')
    .option('--except <name>', 'not in this session')
    .option('--role <roles>', 'only what these speak: user, assistant, tool, system')
    .addOption(new Option('--limit <count>', 'at most so many').default(String(transcriptLimits.hits.standard)))
  addList(search, context, hits)
  session
    .command('rename <name> <title...>')
    .description('give a session another title; its name stays')
    .action(callService(context, rename))
  session
    .command('delete <names...>')
    .alias('rm')
    .description('remove one session, or several, with their transcripts')
    .action(
      callForEach(context, async ({ client, query }, name) => {
        await client.call(deleteSession, { params: { id: name }, query })
        return `session ${name} deleted`
      }),
    )
}

const sessions: ListCommand<SessionItem> = {
  route: listSessions,
  pages: 'all',
  columns: (now) => [
    { title: 'NAMESPACE', value: (item) => item.namespace },
    { title: 'NAME', value: (item) => item.name },
    { title: 'TYPE', value: (item) => item.sessionType },
    { title: 'TITLE', value: (item) => item.title },
    { title: 'MESSAGES', value: (item) => item.messageCount },
    { title: 'TASK', value: (item) => item.activeTask },
    { title: 'UPDATED', value: (item) => formatAge(item.updatedAt, now) },
  ],
  empty: (scope) => `no sessions${scope}; \`${commandHint('run --session NAME "say hello"')}\` creates one`,
}

async function show({ client, options, context, query }: ServiceCall, name: string, { tail }: { tail?: string }) {
  const window = tail === undefined ? {} : { maxMessages: readCountFlag('--tail', tail) }
  const session = await client.call(getSession, { params: { id: name }, query: { ...query, ...window } })
  await printAnswer(context, options, session, () =>
    session.transcript.split('\n').filter(Boolean).map(formatMessage).join('\n\n'),
  )
}

async function rename({ client, options, context, query }: ServiceCall, name: string, words: string[]): Promise<void> {
  const session = await client.call(updateSession, { params: { id: name }, query, body: { title: words.join(' ') } })
  await printAnswer(context, options, session, () => `session ${session.name} is called "${session.title}"`)
}

type SearchOptions = { session?: string; except?: string; role?: string; limit: string }

const hits: ListCommand<TranscriptHit, SearchOptions> = {
  route: searchTranscripts,
  filters: (flags, { args }) => ({
    query: args.join(' '),
    sessionName: flags.session,
    excludeSessionName: flags.except,
    roles: flags.role,
    limit: readCountFlag('--limit', flags.limit),
  }),
  columns: (now) => [
    { title: 'NAMESPACE', value: (item) => item.namespace },
    { title: 'SESSION', value: (item) => item.sessionName },
    { title: 'ROLE', value: (item) => (item.name === undefined ? item.role : `${item.role} ${item.name}`) },
    { title: 'AGE', value: (item) => formatAge(item.createdAt, now) },
    { title: 'TEXT', value: (item) => item.snippet.replace(/\s+/g, ' ') },
  ],
  empty: (scope) => `no message${scope} has all of these words`,
}

function formatMessage(line: string): string {
  const message = JSON.parse(line) as { role: string; content: string; name?: string }
  const who = message.name === undefined ? message.role : `${message.role} ${message.name}`
  return `${who}:\n${message.content}`
}
