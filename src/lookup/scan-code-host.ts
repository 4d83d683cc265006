// The code host of a scan, signed in with the scan's own login.

import type { RepositoryScan } from '../contract/kinds/scans/repository-scan.ts'
import { readRepositoryUrl } from '../contract/values/repository-url.ts'
import { SvcError } from '../errors.ts'
import type { CodeHost, CodeHosts } from '../ports/codehost/code-host.ts'
import type { Secrets } from '../ports/resources/secrets.ts'
import { openCodeHost } from './code-host-login.ts'

type Ports = { codeHosts: CodeHosts; secrets: Secrets }

/** InvalidRequest, which begins with `what` cannot be done, without a login or for a repository that is on no host of the code host. */
export function openScanHost(
  ports: Ports,
  { metadata: { namespace }, spec }: RepositoryScan,
  { what, signal }: { what: string; signal?: AbortSignal },
): CodeHost {
  const { repoURL, gitSecretRef } = spec
  const read = readRepositoryUrl(repoURL, ports.codeHosts.hosts)
  if ('problem' in read) throw new SvcError('InvalidRequest', `${what}: spec.repoURL ${read.problem}`)
  if (gitSecretRef === undefined)
    throw new SvcError('InvalidRequest', `${what}: set spec.gitSecretRef of the scan to a login`)
  const secret = { namespace, name: gitSecretRef.name }
  const { repository } = read
  return openCodeHost(ports, {
    secret,
    repository,
    owner: 'spec.gitSecretRef',
    ...(signal !== undefined && { signal }),
  })
}
