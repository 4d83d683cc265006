// login, logout: a person's token from an OpenID Connect issuer, for a service that accepts such tokens.
import { type Command, Option } from 'commander'
import type { LoginWish, Prompt } from '../../../client/login/issuer-client.ts'
import { getWhoami } from '../../../contract/api/identity/auth.ts'
import { SvcError } from '../../../errors.ts'
import type { CliContext, GlobalOptions } from '../../context.ts'
import { readGlobalOptions } from '../../global-options.ts'

type LoginFlags = {
  issuer?: string
  clientId?: string
  scope: string
  audience?: string
  device?: boolean
  tokenKind: 'access' | 'id'
}

export function addLoginCommand(program: Command, context: CliContext): void {
  program
    .command('login')
    .description('log in at an issuer and store its token for later commands')
    .option('--issuer <url>', 'address of the issuer (SVC_OIDC_ISSUER)')
    .option('--client-id <id>', 'client id of this program at the issuer (SVC_OIDC_CLIENT_ID)')
    .option('--scope <words>', 'scopes to request', 'openid profile email offline_access')
    .option('--audience <name>', 'audience of the token, for issuers that need it')
    .option('--device', 'log in with a code on another device, when this one has no browser')
    .addOption(
      new Option('--token-kind <kind>', "which of the issuer's tokens the service accepts")
        .choices(['access', 'id'])
        .default('access'),
    )
    .addHelpText(
      'after',
      '\nThe service is named by --server, SVC_SERVER or a context; later commands that name it use the token.',
    )
    .action((flags: LoginFlags, command: Command) => runLogin(flags, readGlobalOptions(command), context))
}

export function addLogoutCommand(program: Command, context: CliContext): void {
  program
    .command('logout')
    .description('forget the token of a login')
    .action((_flags: unknown, command: Command) => {
      const options = readGlobalOptions(command)
      const server = context.serverAddress(options)
      const found = context.logins(options).forget(server)
      context.terminal.note(found ? `logged out of ${server}` : `you were not logged in at ${server}`)
    })
}

function requireText(value: string | undefined, flag: string, variable: string): string {
  if (value) return value
  throw new SvcError('InvalidRequest', `give ${flag}, or set ${variable}`)
}

function readWish(flags: LoginFlags, context: CliContext): LoginWish {
  const { issuer, clientId, scope, audience, tokenKind } = flags
  const read = context.readEnvironment
  return {
    issuer: requireText(issuer ?? read('SVC_OIDC_ISSUER'), '--issuer', 'SVC_OIDC_ISSUER'),
    clientId: requireText(clientId ?? read('SVC_OIDC_CLIENT_ID'), '--client-id', 'SVC_OIDC_CLIENT_ID'),
    kind: tokenKind,
    scope,
    audience,
  }
}

function describePrompt({ address, code }: Prompt): string {
  if (code === undefined) return `Open this address in a browser on this machine:\n\n  ${address}\n`
  return `Open this address on any device and type in the code ${code}:\n\n  ${address}\n`
}

/** A token that the service refuses is not stored. */
async function tryLogin(server: string, options: GlobalOptions, context: CliContext) {
  const { token: _other, context: _context, ...rest } = options
  try {
    const client = await context.connect({ ...rest, server })
    return await client.call(getWhoami)
  } catch (error) {
    context.logins(options).forget(server)
    throw error
  }
}

async function runLogin(flags: LoginFlags, options: GlobalOptions, context: CliContext): Promise<void> {
  const server = context.serverAddress(options)
  const wish = readWish(flags, context)
  const { logIn } = await import('../../../client/login/issuer-client.ts')
  const flow = flags.device ? 'device' : 'code'
  const showPrompt = (prompt: Prompt) => context.terminal.note(describePrompt(prompt))
  const login = await context.interruptible((signal) => logIn(wish, { flow, showPrompt, signal, now: context.now }))
  if (login === undefined) throw new SvcError('ClientClosed', 'the login was cancelled')
  context.logins(options).keep(server, login)
  const { username, namespace } = await tryLogin(server, options, context)
  context.terminal.note(`logged in at ${server} as ${username}${namespace ? `, namespace ${namespace}` : ''}`)
}
