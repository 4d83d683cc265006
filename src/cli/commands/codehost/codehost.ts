// codehost: makes an App on the code host from a manifest, with which the service signs in.
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import { z } from 'zod'
import type { Client } from '../../../client/client.ts'
import { commandHint } from '../../../client/command-hint.ts'
import { listenForCode } from '../../../client/login/redirect.ts'
import { createSecret, listSecrets, type SecretItem } from '../../../contract/api/resources/secrets.ts'
import { isSvcError, messageOf, SvcError } from '../../../errors.ts'
import { callService } from '../../action.ts'
import type { CliContext, GlobalOptions } from '../../context.ts'
import { namespaceQuery } from '../../global-options.ts'
import { listPages } from '../../output/paging.ts'

type AppFlags = {
  name: string
  host: string
  apiUrl?: string
  organization?: string
  webhook?: string
  push?: boolean
  secret: string
  webhookSecret: string
}
type Making = { flags: AppFlags; client: Client; options: GlobalOptions; context: CliContext }

const creationTimeoutMs = 3_600_000

export function addCodeHostCommands(program: Command, context: CliContext): void {
  program
    .command('codehost')
    .description('the App with which the service signs in to GitHub or GitHub Enterprise')
    .command('app')
    .description('make an App with the rights that reviews and commands need, and store its key in a Secret')
    .option('--name <name>', 'name of the App, of which there is one on a host', 'svc-reviews')
    .option('--host <host>', 'host of GitHub Enterprise', 'github.com')
    .option('--api-url <url>', 'base address of its interface, where it is not the usual one')
    .option('--organization <name>', 'whose App it is; without it yours')
    .option('--webhook <url>', 'address of this service as the code host reaches it, to be told of events')
    .option('--push', 'it may push branches and merge, as label triggers need it')
    .option('--secret <name>', 'Secret for the key of the App', 'codehost-app')
    .option('--webhook-secret <name>', 'Secret for what it signs events with', 'codehost-webhook')
    .action(callService(context, (call, flags: AppFlags) => makeApp({ ...call, flags })))
}

/** The code host shows the key once: the names of its secrets must be free before the App is made. */
async function requireFreeNames({ flags, client, options }: Making): Promise<void> {
  const names = [flags.secret, ...(flags.webhook === undefined ? [] : [flags.webhookSecret])]
  const { items } = await listPages<SecretItem>(client, listSecrets, { query: namespaceQuery(options), limit: 10_000 })
  const taken = names.find((name) => items.some((item) => item.name === name))
  if (taken === undefined) return
  const flag = taken === flags.secret ? '--secret' : '--webhook-secret'
  throw new SvcError('AlreadyExists', `there is a Secret "${taken}" already: name another one with ${flag}`)
}

function readWish({ name, host, organization, webhook, push }: AppFlags): AppWish {
  if (!/^[a-z0-9][a-z0-9.-]*(:\d+)?$/i.test(host))
    throw new SvcError('InvalidRequest', `--host must be the name of a host such as github.com, not ${host}`)
  if (webhook !== undefined && !/^https?:$/.test(URL.parse(webhook)?.protocol ?? ''))
    throw new SvcError('InvalidRequest', '--webhook must be an address such as https://svc.example.com')
  return { name, host, organization, serviceUrl: webhook, pushes: push === true }
}

function apiUrlOf({ apiUrl, host }: AppFlags): string {
  return apiUrl ?? (host === 'github.com' ? 'https://api.github.com' : `https://${host}/api/v3`)
}

/** The person begins on a page of ours, and comes back from the code host with a code. */
async function askForCode(wish: AppWish, context: CliContext, signal: AbortSignal): Promise<string> {
  const state = randomBytes(16).toString('hex')
  const redirect = await listenForCode(state, signal, {
    start: (url) => writeStartPage(wish, state, url),
    done: 'The App is made. You can close this page, and go on in the terminal.',
    failed: 'The App was not made. See the terminal.',
  })
  try {
    const address = `${new URL('/', redirect.url).href}?state=${state}`
    context.terminal.note(`Open this address in a browser on this machine:\n\n  ${address}\n`)
    const code = (await redirect.answer).searchParams.get('code')
    if (code !== null) return code
    throw new SvcError('ClientClosed', 'the code host came back without an App')
  } finally {
    redirect.close()
  }
}

async function storeApp({ flags, client, options, context }: Making, app: MadeApp): Promise<void> {
  const store = async (name: string, stringData: Record<string, string>) => {
    await client.call(createSecret, { body: { name, ...namespaceQuery(options), stringData } })
    context.terminal.note(`secret ${name} created with ${Object.keys(stringData).join(', ')}`)
  }
  try {
    await store(flags.secret, { CODEHOST_APP_ID: String(app.id), CODEHOST_APP_PRIVATE_KEY: app.pem })
    if (flags.webhook !== undefined && app.webhook_secret)
      await store(flags.webhookSecret, { secret: app.webhook_secret })
  } catch (error) {
    const file = `${app.slug}.private-key.pem`
    writeFileSync(file, app.pem, { mode: 0o600, flag: 'wx' })
    const advice = `It has the id ${app.id}, and its key is in the file ${file}: store them yourself`
    const message = `the App ${app.slug} is made, but not all of it is stored: ${messageOf(error)} ${advice}`
    throw new SvcError(isSvcError(error) ? error.reason : 'Internal', message, { cause: error })
  }
}

function describeNext({ flags }: Making, { slug, html_url: page }: MadeApp): string {
  const trigger =
    flags.webhook === undefined ? [] : [commandHint(`up --codehost-webhook-secret-name ${flags.webhookSecret}`)]
  return [
    `App ${slug} is made. Next:`,
    `  install it on your repositories: ${page.replace(/\/$/, '')}/installations/new`,
    ...trigger.map((line) => `  let the service check its events: ${line}`),
    `  ${commandHint(`monitor create reviews --repo URL --reviewer AGENT --secret ${flags.secret}`)}`,
  ].join('\n')
}

async function makeApp(making: Making): Promise<void> {
  const { flags, context } = making
  const wish = readWish(flags)
  await requireFreeNames(making)
  const app = await context.interruptible(async (interrupted) => {
    const signal = AbortSignal.any([interrupted, AbortSignal.timeout(creationTimeoutMs)])
    return exchangeCode(apiUrlOf(flags), await askForCode(wish, context, signal), signal)
  })
  if (app === undefined) throw new SvcError('ClientClosed', 'no App was made')
  await storeApp(making, app)
  context.terminal.note(describeNext(making, app))
}

const MadeApp = z.object({
  id: z.int(),
  slug: z.string(),
  html_url: z.url(),
  pem: z.string(),
  webhook_secret: z.string().nullish(),
})
/** What the code host has made; the key and the secret are shown once. */
export type MadeApp = z.infer<typeof MadeApp>

/** `apiUrl`: base address of the interface. The code is good for one exchange within an hour. */
export async function exchangeCode(apiUrl: string, code: string, signal: AbortSignal): Promise<MadeApp> {
  const url = `${apiUrl.replace(/\/$/, '')}/app-manifests/${encodeURIComponent(code)}/conversions`
  const headers = { accept: 'application/vnd.github+json', 'user-agent': 'svc' }
  const answer = await fetch(url, { method: 'POST', headers, signal, redirect: 'error' })
  const read = MadeApp.safeParse(await answer.json().catch(() => undefined))
  if (answer.ok && read.success) return read.data
  const why = answer.ok ? 'its answer describes no App' : `it answered ${answer.status}`
  throw new SvcError('UpstreamFailed', `${new URL(url).host} did not hand over the App: ${why}; run the command again`)
}

export type AppWish = {
  name: string
  /** Host of the pages, such as `github.com`. */
  host: string
  /** Absent: the App belongs to the person. */
  organization?: string | undefined
  /** Base address of the service, if the code host shall send it events. */
  serviceUrl?: string | undefined
  /** It may push branches and merge, too. */
  pushes: boolean
}

const homepage = 'https://docs.github.com/apps'
const events = ['issues', 'issue_comment', 'pull_request']

/** `redirectUrl`: where the browser is sent with the code. */
export function makeManifest({ name, serviceUrl, pushes }: AppWish, redirectUrl: string): object {
  const hook = serviceUrl && new URL('/webhooks/codehost', serviceUrl).href
  return {
    name,
    url: serviceUrl ?? homepage,
    redirect_url: redirectUrl,
    public: false,
    default_permissions: {
      contents: pushes ? 'write' : 'read',
      pull_requests: 'write',
      issues: 'write',
      checks: 'read',
      statuses: 'read',
      metadata: 'read',
    },
    ...(hook && { hook_attributes: { url: hook, active: true }, default_events: events }),
  }
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** The body of a page with one button, which sends the manifest to the code host. */
export function writeStartPage(wish: AppWish, state: string, redirectUrl: string): string {
  const { host, organization, name } = wish
  const owner = organization === undefined ? '' : `organizations/${encodeURIComponent(organization)}/`
  const action = `https://${host}/${owner}settings/apps/new?state=${state}`
  const manifest = escapeHtml(JSON.stringify(makeManifest(wish, redirectUrl)))
  const button = `<button>Create the App ${escapeHtml(name)} on ${escapeHtml(host)}</button>`
  return `<form method="post" action="${escapeHtml(action)}"><input type="hidden" name="manifest" value="${manifest}">${button}</form>`
}
