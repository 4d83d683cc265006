// The login of the code host, from a Secret that is read for each call.
import { type Repository, repositoryUrlOf } from '../contract/values/repository-url.ts'
import { SvcError } from '../errors.ts'
import type { CodeHost, CodeHostCredentials, CodeHosts } from '../ports/codehost/code-host.ts'
import type { ResourceKey } from '../ports/resources/resources.ts'
import type { Secrets } from '../ports/resources/secrets.ts'
import { codeHostKeys, readCodeHostEntries } from '../rules/codehost/code-host-login.ts'
import { findReceiverProblem } from '../rules/identity/secret-receiver.ts'
import { readSecret } from './entries.ts'

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
  throw new SvcError('NotFound', `${where} has none of ${codeHostKeys}, which the code host needs; add one`)
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
