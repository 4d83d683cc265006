// open: the dashboard in a browser, signed in by a link that is used once.
import type { Command } from 'commander'
import type { Client } from '../../../client/client.ts'
import { isUnbuilt, requireDashboard } from '../../../client/dashboard-page.ts'
import { createSignInLink, getWhoami } from '../../../contract/api/identity/auth.ts'
import { ignoring, SvcError } from '../../../errors.ts'
import type { CliCall, CliContext } from '../../context.ts'
import { readGlobalOptions } from '../../global-options.ts'
import { printAnswer } from '../../output/answers.ts'

type OpenFlags = { printUrl?: boolean }

export function addOpenCommand(program: Command, context: CliContext): void {
  program
    .command('open [path]')
    .description('open the dashboard in a browser, signed in; starts a service when none runs')
    .option('--print-url', 'print the address, which signs in once within two minutes, and start no browser')
    .addHelpText('after', '\nThe path is that of a page, such as tasks or tasks/NAME.\nBROWSER names another browser.')
    .action((path: string | undefined, flags: OpenFlags, command: Command) => open(path, flags, { command, context }))
}

async function open(
  path: string | undefined,
  { printUrl }: OpenFlags,
  { command, context }: { command: Command; context: CliContext },
): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  const page = await findPage(path, client, options.namespace)
  await requireDashboard(page).catch((error: unknown) => buildFirst(error, page, { options, context }))
  const code = await makeCode(client)
  const url = code === undefined ? page : `${page}#signin=${code}`
  const { terminal } = context
  if (code === undefined) terminal.note('this credential makes no sign-in link: sign in on the page')
  if (printUrl === true) return printAnswer(context, options, { url }, () => url)
  // Without the code, which would stay on the screen.
  terminal.note(`opening ${page}`)
  if (await context.openBrowser(url)) return
  terminal.note(
    `no browser starts from here: open this address in one, ${code === undefined ? 'and sign in' : 'within two minutes'}`,
  )
  await printAnswer(context, options, { url }, () => url)
}

/** In a checkout it is built on first use. */
async function buildFirst(error: unknown, page: string, { options, context }: CliCall): Promise<void> {
  const { buildDashboard, terminal } = context
  if (!isUnbuilt(error) || buildDashboard === undefined || context.target(options).server !== undefined) throw error
  const spinner = terminal.spin('building the dashboard, this once')
  await buildDashboard().finally(() => spinner.stop())
  await requireDashboard(page)
}

const oneTask = /^tasks\/([^/?]+)$/

/** The address of a page; a task without a namespace is in that of the caller. */
async function findPage(path = '', client: Client, namespace: string | undefined): Promise<string> {
  const wanted = path.replace(/^\//, '')
  const task = oneTask.exec(wanted)?.[1]
  if (task === undefined) return addressOf(client, wanted, path)
  const home = namespace ?? (await client.call(getWhoami)).namespace ?? 'default'
  return addressOf(client, `tasks/${home}/${task}`, path)
}

function addressOf({ url }: Client, wanted: string, typed: string): string {
  const address = URL.parse(`${url}/${wanted}`)
  if (address?.hash === '' && !/^[/\\]|\s|\\/.test(wanted) && address.href.startsWith(`${url}/`)) return address.href
  throw new SvcError('InvalidRequest', `\`${typed}\` is not the path of a page; write one such as tasks`)
}

/** Undefined where the caller signs in on the page itself. */
async function makeCode(client: Client): Promise<string | undefined> {
  return (await ignoring(client.call(createSignInLink), 'Forbidden'))?.code
}
