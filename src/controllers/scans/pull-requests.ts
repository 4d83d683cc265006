// Pull requests of findings: what became of them on the code host.

import type { RepositoryScan } from '../../contract/kinds/scans/repository-scan.ts'
import { isSvcError, messageOf } from '../../errors.ts'
import { openScanHost } from '../../lookup/scan-code-host.ts'
import type { Finding } from '../../ports/scans/findings.ts'
import type { PagePlace } from '../../ports/scans/scans.ts'
import { settlePullRequest } from '../../rules/scans/finding-state.ts'
import type { ScanContext } from './context.ts'

/** Findings whose pull request was open when it was last looked at. */
async function listWaiting({ records }: ScanContext, scanUid: string): Promise<Finding[]> {
  const waiting: Finding[] = []
  let after: PagePlace | undefined
  do {
    const page = await records.findings.list(scanUid, { state: 'pr_open', limit: 500, after })
    waiting.push(...page.items.filter(({ prState, prNumber }) => prState !== 'merged' && prNumber !== undefined))
    after = page.next
  } while (after !== undefined)
  return waiting
}

/** The open ones in one list, which costs nothing while it has not changed; only those that are not in it are asked for. */
async function settle(context: ScanContext, scan: RepositoryScan, waiting: readonly Finding[]): Promise<number> {
  const what = 'pull requests of findings cannot be looked at'
  const host = openScanHost(context, scan, { what, signal: context.signal })
  const open = new Set((await host.listPullRequests()).map(({ number }) => number))
  let left = waiting.length
  for (const { namespace, id, prNumber = 0 } of waiting) {
    if (open.has(prNumber)) continue
    const { state, merged } = await host.getPullRequest(prNumber)
    if (state === 'open') continue
    const given = { state: merged ? 'merged' : 'closed', now: context.clock.now().toISOString() } as const
    await context.records.findings.change(namespace, id, (one) => settlePullRequest(one, prNumber, given))
    left -= 1
  }
  return left
}

/** Returns how many are still open. Faults of the code host and of the login hold up nothing else. */
export async function watchPullRequests(context: ScanContext, scan: RepositoryScan): Promise<number> {
  const waiting = await listWaiting(context, scan.metadata.uid)
  if (waiting.length === 0) return 0
  try {
    return await settle(context, scan, waiting)
  } catch (error) {
    if (!isSvcError(error) || context.signal.aborted) throw error
    context.log.debug({ scan: scan.metadata.name, error: messageOf(error) }, 'pull requests of findings')
    return waiting.length
  }
}
