// The scan that a request is about, and the rights to it.
import type { AccessVerb } from '../../contract/api/identity/access.ts'
import type { RepositoryScan } from '../../contract/kinds/scans/repository-scan.ts'
import { SvcError } from '../../errors.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import type { MatchedFinding } from '../../ports/scans/findings.ts'
import type { ScanKey } from '../../ports/scans/scans.ts'
import { requireAccess } from '../identity/access.ts'
import { notFound } from '../resources/listing.ts'
import type { UsecaseDeps } from '../service/deps.ts'

type Verb = Extract<AccessVerb, 'get' | 'update'>
export type FindingKey = { namespace: string; id: string }

export function keyOfScan({ metadata: { uid, namespace, name } }: RepositoryScan): ScanKey {
  return { uid, namespace, name }
}

/** NotFound. */
export async function findScan(
  { ports }: UsecaseDeps,
  caller: Caller,
  key: ResourceKey,
  verb: Verb,
): Promise<RepositoryScan> {
  await requireAccess(ports, caller, { verb, kind: 'RepositoryScan', ...key })
  const scan = await ports.resources.get('RepositoryScan', key)
  if (scan !== undefined) return scan
  throw await notFound(ports, caller, 'RepositoryScan', key)
}

/** NotFound, also when its scan is gone, or was made again. */
export async function findFinding(
  { ports }: UsecaseDeps,
  caller: Caller,
  { namespace, id }: FindingKey,
  verb: Verb,
): Promise<MatchedFinding & { scan: RepositoryScan }> {
  const stored = await ports.records.findings.get(namespace, id)
  const name = stored?.finding.repositoryScan
  await requireAccess(ports, caller, { verb, kind: 'RepositoryScan', namespace, ...(name !== undefined && { name }) })
  const scan = name && (await ports.resources.get('RepositoryScan', { namespace, name }))
  if (stored !== undefined && scan && scan.metadata.uid === stored.scanUid) return { ...stored, scan }
  throw new SvcError('NotFound', `finding not found: "${id}" in namespace "${namespace}"`)
}
