// token: credentials for people and programs, besides the owner's.
import { type Command, Option } from 'commander'
import { commandHint } from '../../../client/command-hint.ts'
import { type Role, roles } from '../../../contract/api/identity/access.ts'
import { createToken, deleteToken, listTokens, type TokenItem } from '../../../contract/api/identity/tokens.ts'
import { SvcError } from '../../../errors.ts'
import { callService, withCall } from '../../action.ts'
import type { CliCall, CliContext, GlobalOptions } from '../../context.ts'
import { printAnswer } from '../../output/answers.ts'
import { addList, type ListCommand } from '../../output/list-command.ts'
import { formatData } from '../../output/output.ts'

type CreateOptions = { bind?: string; role?: Role; readOnly?: boolean; expires?: string; serverTools?: 'on' | 'off' }

export function addTokenCommands(program: Command, context: CliContext): void {
  const token = program.command('token').description('credentials for people and programs')
  token
    .command('create <name>')
    .description('create a token and print it once')
    .addOption(new Option('--role <role>', 'what it may do (default: editor)').choices(roles))
    .option('--read-only', 'the same as --role viewer')
    .option('--expires <duration>', 'refused after this long, such as 30d')
    .addOption(new Option('--server-tools <switch>', 'whether the proxies run tools for it').choices(['on', 'off']))
    .addHelpText(
      'after',
      '\nWith --namespace the token may act in that namespace only. It is used with --token or SVC_TOKEN.',
    )
    .action(withCall(context, create))
  token
    .command('show')
    .description('print the token that commands use here, for other programs')
    .action(withCall(context, show))
  addList(token.command('list').alias('ls').description('tokens, without their text'), context, tokens)
  token
    .command('revoke <id>')
    .alias('rm')
    .description('revoke a token')
    .action(
      callService(context, async ({ client }, id: string) => {
        await client.call(deleteToken, { params: { id } })
        context.terminal.note(`token ${id} revoked`)
      }),
    )
}

async function create({ options, context }: CliCall, name: string, flags: CreateOptions): Promise<void> {
  await requireShown(options)
  const client = await context.connect(options)
  const body = {
    name,
    namespace: options.namespace,
    role: flags.role,
    readOnly: flags.readOnly,
    expires: flags.expires,
    ...(flags.serverTools === undefined ? {} : { serverTools: flags.serverTools === 'on' }),
  }
  const created = await client.call(createToken, { body })
  await printAnswer(context, options, created, () => created.token)
  if (options.output === 'table') context.terminal.note('this is shown once; keep it safe')
}

/** Shows where in an answer the token is. */
const marker = 'svc_shown'
const sample = { id: 'tok-0', name: 'ci', namespace: 'default', role: 'editor', token: marker, createdAt: '' }

/** InvalidRequest for an output that leaves the token out: there is no other copy of it, ever. */
async function requireShown({ output }: GlobalOptions): Promise<void> {
  if (output === 'table' || (await formatData(output, sample))?.includes(marker)) return
  throw new SvcError(
    'InvalidRequest',
    `-o ${output} would hide the token, which is shown only now; leave it out, or use -o json`,
  )
}

async function show({ options, context }: CliCall): Promise<void> {
  const token = await context.findToken(options)
  if (token === undefined)
    throw new SvcError('Unavailable', `no service runs here; \`${commandHint('up')}\` starts one`)
  await printAnswer(context, options, { token }, () => token)
}

const tokens: ListCommand<TokenItem> = {
  route: listTokens,
  isGlobal: true,
  columns: () => [
    { title: 'ID', value: (item) => item.id },
    { title: 'NAME', value: (item) => item.name },
    { title: 'NAMESPACE', value: (item) => item.namespace ?? 'any' },
    { title: 'ROLE', value: (item) => item.role },
    { title: 'EXPIRES', value: (item) => item.expiresAt ?? 'never' },
    { title: 'LAST USED', value: (item) => item.lastUsedAt ?? 'never' },
  ],
  empty: () => `none besides the owner's; \`${commandHint('token create NAME')}\` makes one`,
}
