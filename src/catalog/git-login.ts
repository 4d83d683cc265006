// The login of a git repository, from a Secret.
import { SvcError } from '../errors.ts'
import type { CheckoutCredentials } from '../ports/checkouts.ts'
import type { ResourceKey } from '../ports/resources.ts'
import type { Secrets } from '../ports/secrets.ts'
import { gitCredentialKeys, readGitCredentials } from '../rules/git-workspace.ts'
import { findReceiverProblem } from '../rules/secret-receiver.ts'
import { readSecret } from './entries.ts'

/**
 * `owner`: the field that names it; `url`: where it is sent, undefined for an address that cannot be read. NotFound or
 * InvalidRequest, as a sentence for the owner of the resource.
 */
export async function readGitLogin(
  secrets: Secrets,
  key: ResourceKey,
  { owner, url }: { owner: string; url: URL | undefined },
): Promise<CheckoutCredentials> {
  const { values, allowedHosts, where } = await readSecret(secrets, key, { owner })
  const annotations = (await secrets.describe(key))?.annotations
  const problem = findReceiverProblem({ ...key, annotations }, url ?? 'code')
  if (problem !== undefined) throw new SvcError('InvalidRequest', `${problem}; ${owner} needs another one`)
  const credentials = readGitCredentials(values)
  if (credentials !== undefined) return { ...credentials, ...(allowedHosts && { allowedHosts }) }
  throw new SvcError('NotFound', `${where} has none of ${gitCredentialKeys.join(', ')}, which git needs; add one`)
}
