// Logins of git and of the code host, from Secrets that are read for each call.
import { type Repository, readRepositoryUrl, repositoryUrlOf } from '../contract/values/repository-url.ts'
import { SvcError } from '../errors.ts'
import type { CodeHost, CodeHostCredentials, CodeHosts } from '../ports/codehost/code-host.ts'
import type { ResourceKey } from '../ports/resources/resources.ts'
import type { Secrets } from '../ports/resources/secrets.ts'
import type { CheckoutCredentials } from '../ports/workspaces/checkouts.ts'
import { codeHostEntryNames, readCodeHostEntries } from '../rules/codehost/login.ts'
import { findReceiverProblem } from '../rules/providers/address.ts'
import { gitCredentialKeys, readGitCredentials } from '../rules/workspaces/git-workspace.ts'
import { readSecret } from './entries.ts'

type Receiver = {
  /** The field that names the Secret. */
  owner: string
  /** Where it is sent; undefined for an address that cannot be read. */
  url: URL | undefined
  /** Signs in as an App. Absent: only what the Secret itself holds is sent. */
  codeHosts?: CodeHosts | undefined
}

/** The token of an App for a repository of the code host; undefined where the Secret has no App, or it is elsewhere. */
async function signIn(values: Record<string, string>, { url, codeHosts }: Receiver): Promise<string | undefined> {
  const credentials = readCodeHostEntries(values)
  if (credentials?.kind !== 'app' || url === undefined || codeHosts === undefined) return undefined
  const read = readRepositoryUrl(url.href, codeHosts.hosts)
  return 'repository' in read ? codeHosts.gitPassword(read.repository, credentials) : undefined
}

/** NotFound or InvalidRequest, as a sentence for the owner of the resource; errors of the code host for an App. */
export async function readGitLogin(
  secrets: Secrets,
  key: ResourceKey,
  receiver: Receiver,
): Promise<CheckoutCredentials> {
  const { owner, url } = receiver
  const { values, allowedHosts, where } = await readSecret(secrets, key, { owner })
  const annotations = (await secrets.describe(key))?.annotations
  const problem = findReceiverProblem({ ...key, annotations }, url ?? 'code')
  if (problem !== undefined) throw new SvcError('InvalidRequest', `${problem}; ${owner} needs another one`)
  const appToken = await signIn(values, receiver)
  const credentials =
    appToken === undefined ? readGitCredentials(values) : { username: 'x-access-token', password: appToken }
  if (credentials !== undefined) return { ...credentials, ...(allowedHosts && { allowedHosts }) }
  throw new SvcError('NotFound', `${where} has none of ${gitCredentialKeys.join(', ')}, which git needs; add one`)
}

type Reading = { owner: string; repository: Repository }
type Opening = Reading & { secret: ResourceKey | undefined; signal?: AbortSignal }

/**
 * `owner`: the field that names the Secret. NotFound or InvalidRequest, as a sentence for the owner of the resource. A Secret that
 * may be sent to the repository's host only may be sent to the API of that host.
 */
export async function readCodeHostLogin(
  secrets: Secrets,
  key: ResourceKey,
  { owner, repository }: Reading,
): Promise<CodeHostCredentials> {
  const { values, where } = await readSecret(secrets, key, { owner })
  const annotations = (await secrets.describe(key))?.annotations
  const problem = findReceiverProblem({ ...key, annotations }, new URL(repositoryUrlOf(repository)))
  if (problem !== undefined) throw new SvcError('InvalidRequest', `${problem}; ${owner} needs another one`)
  const credentials = readCodeHostEntries(values)
  if (credentials !== undefined) return credentials
  throw new SvcError('NotFound', `${where} has none of ${codeHostEntryNames}, which the code host needs; add one`)
}

/** The repository as the owner of the Secret sees it; without a Secret, as anybody does. */
export function openCodeHost(
  { codeHosts, secrets }: { codeHosts: CodeHosts; secrets: Secrets },
  { secret, repository, owner, signal }: Opening,
): CodeHost {
  return codeHosts.open(repository, {
    readCredentials: async () => secret && readCodeHostLogin(secrets, secret, { owner, repository }),
    ...(signal !== undefined && { signal }),
  })
}
