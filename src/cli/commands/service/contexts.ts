// config contexts, use, set and remove; whoami: which service the commands go to, and as whom.
import type { Command } from 'commander'
import { commandHint, untargetedHint } from '../../../client/command-hint.ts'
import { localContext, type StoredContext } from '../../../client/contexts.ts'
import { getWhoami } from '../../../contract/api/identity/auth.ts'
import { SvcError } from '../../../errors.ts'
import { dropUndefined } from '../../../lib/json.ts'
import { withCall } from '../../action.ts'
import type { CliCall, CliContext } from '../../context.ts'
import { printAnswer } from '../../output/answers.ts'
import { formatFields, formatTable } from '../../output/output.ts'

type SetOptions = { tokenFromEnv?: string; tokenFromFile?: string }

export function addContextCommands(config: Command, context: CliContext): void {
  config
    .command('contexts')
    .description('services that have a name; the one that commands go to has a star')
    .action(withCall(context, listContexts))
  config
    .command('use <name>')
    .description(`let the commands that follow go to this context; ${localContext} is this machine's service`)
    .action(
      withCall(context, ({ options }, name: string) => {
        const contexts = context.contexts(options)
        contexts.use(name)
        const target = name === localContext ? 'the service of this machine' : contexts.find(name).server
        context.terminal.note(`commands go to ${target} from now on`)
      }),
    )
  config
    .command('set <name>')
    .description('keep the --server, --namespace and token of a context, or change them')
    .option('--token-from-env <variable>', 'keep the token that this environment variable has')
    .option('--token-from-file <path>', 'keep the token in this file, `-` for standard input')
    .addHelpText(
      'after',
      `
  ${commandHint('config set team --server https://svc.example.com -n build --token-from-env TEAM_TOKEN')}
  ${commandHint('config use team')}

A context without a token uses that of \`${commandHint('login')}\`, or SVC_TOKEN.`,
    )
    .action(withCall(context, setContext))
  config
    .command('remove <name>')
    .alias('rm')
    .description('forget a context')
    .action(
      withCall(context, ({ options }, name: string) => {
        context.contexts(options).remove(name)
        context.terminal.note(`context ${name} removed`)
      }),
    )
}

export function addWhoamiCommand(program: Command, context: CliContext): void {
  program
    .command('whoami')
    .description('which service the commands go to, as whom, and what that may do')
    .action(withCall(context, showCaller))
}

async function listContexts({ options, context }: CliCall): Promise<void> {
  const contexts = context.contexts(options)
  const used = contexts.current() ?? localContext
  const stored = Object.entries({ [localContext]: undefined, ...contexts.list() } as Record<
    string,
    StoredContext | undefined
  >)
  const items = stored.map(([name, one]) => ({
    name,
    current: name === used,
    server: one?.server,
    namespace: one?.namespace,
    hasToken: one?.token !== undefined,
  }))
  await printAnswer(context, options, items, () =>
    formatTable(items, [
      { title: 'IN USE', value: (item) => (item.current ? '*' : '') },
      { title: 'NAME', value: (item) => item.name },
      { title: 'SERVER', value: (item) => item.server ?? 'this machine' },
      { title: 'NAMESPACE', value: (item) => item.namespace },
      { title: 'TOKEN', value: (item) => (item.hasToken ? 'kept' : '') },
    ]),
  )
}

async function readToken(
  { tokenFromEnv, tokenFromFile }: SetOptions,
  context: CliContext,
): Promise<string | undefined> {
  if (tokenFromEnv !== undefined && tokenFromFile !== undefined)
    throw new SvcError('InvalidRequest', 'give --token-from-env or --token-from-file, not both')
  if (tokenFromFile !== undefined) return requireText((await context.readTexts(tokenFromFile))[0]?.text, tokenFromFile)
  return tokenFromEnv && requireText(context.readEnvironment(tokenFromEnv), tokenFromEnv)
}

function requireText(text: string | undefined, source: string): string {
  const token = text?.trim()
  if (token) return token
  throw new SvcError('InvalidRequest', `there is no token in ${source}`)
}

async function setContext({ options, context }: CliCall, name: string, flags: SetOptions): Promise<void> {
  if (!/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(name) || name === localContext)
    throw new SvcError(
      'InvalidRequest',
      `\`${name}\` is not a name for a context: small letters, digits, - and .; not ${localContext}`,
    )
  const contexts = context.contexts(options)
  const before = Object.hasOwn(contexts.list(), name) ? contexts.find(name) : undefined
  const server = options.server === undefined ? before?.server : context.serverAddress(options)
  if (server === undefined) throw new SvcError('InvalidRequest', 'name the service with --server')
  // A token was given for one address: it does not go to another.
  const storedToken = before?.server === server ? before.token : undefined
  const token = (await readToken(flags, context)) ?? options.token ?? storedToken
  contexts.keep(name, dropUndefined({ server, token, namespace: options.namespace ?? before?.namespace }))
  context.terminal.note(
    `context ${name} is ${server}; \`${untargetedHint(`config use ${name}`)}\` makes it the one in use`,
  )
}

async function showCaller({ options, context }: CliCall): Promise<void> {
  const { by = 'this machine', context: name = localContext } = context.target(options)
  const client = await context.connect(options, { start: false })
  const who = await client.call(getWhoami)
  const answer = { server: client.url, namedBy: by, context: name, ...who }
  await printAnswer(context, options, answer, () =>
    formatFields([
      ['service', `${client.url} (${by})`],
      ['user', who.username],
      ['credential', who.authType],
      ['role', who.role ?? 'as the RBAC of the cluster has it'],
      ['namespaces', who.boundNamespace ?? 'all'],
      ['namespace', options.namespace ?? who.namespace],
    ]),
  )
}
