// What a scan refers to: its policies, its findings, and the code host of its repository.
import type { RepositoryScan, RepositoryScanSpec } from '../contract/kinds/scans/repository-scan.ts'
import { readRepositoryUrl } from '../contract/values/repository-url.ts'
import { SvcError } from '../errors.ts'
import type { CodeHost, CodeHosts } from '../ports/codehost/code-host.ts'
import type { ConfigMaps } from '../ports/resources/configmaps.ts'
import type { Secrets } from '../ports/resources/secrets.ts'
import type { Finding, Findings } from '../ports/scans/findings.ts'
import type { PageCursor } from '../ports/scans/scans.ts'
import { digestPolicies, listPolicyRefs, type PolicyText, readPolicy } from '../rules/scans/policy.ts'
import { openCodeHost } from './logins.ts'

const pageSize = 200

/** Pages from the front, up to one that last changed before `since`. */
async function* listSince(findings: Pick<Findings, 'list'>, scanUid: string, since: string): AsyncGenerator<Finding[]> {
  let after: PageCursor | undefined
  do {
    const page = await findings.list(scanUid, { limit: pageSize, after })
    yield page.items
    const isOld = (page.items.at(-1)?.updatedAt ?? '') < since
    after = isOld ? undefined : page.next
  } while (after !== undefined)
}

/** Those that last changed first. What changes meanwhile moves to the front, so the front is read again until all is known. */
export async function* listEachFinding(findings: Pick<Findings, 'list'>, scanUid: string): AsyncGenerator<Finding> {
  const seen = new Set<string>()
  let since = ''
  let before = -1
  while (seen.size > before) {
    before = seen.size
    let newest: string | undefined
    for await (const page of listSince(findings, scanUid, since)) {
      newest ??= page[0]?.updatedAt ?? ''
      const unseen = page.filter(({ id }) => !seen.has(id))
      for (const { id } of unseen) seen.add(id)
      yield* unseen
    }
    since = newest ?? ''
  }
}

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

/** InvalidRequest, which names the field, when one cannot be used. */
export async function readPolicies(
  configMaps: ConfigMaps,
  namespace: string,
  spec: RepositoryScanSpec,
): Promise<{ policies: PolicyText[]; digest: string }> {
  const policies: PolicyText[] = []
  for (const { field, ref } of listPolicyRefs(spec)) {
    const found = readPolicy(field, ref, await configMaps.get({ namespace, name: ref.name }))
    if ('problem' in found) {
      const message = `invalid repository scan policy: ${field}: ${found.problem}`
      throw new SvcError('InvalidRequest', message, { details: [{ path: `spec.${field}`, message: found.problem }] })
    }
    policies.push(found)
  }
  return { policies, digest: digestPolicies(policies) }
}
