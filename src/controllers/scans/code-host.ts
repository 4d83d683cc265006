// What a scan does on the code host: findings in code scanning, once for each commit, and a look at its pull requests.
import type { CodeScanningStatus, RepositoryScan } from '../../contract/kinds/scans/repository-scan.ts'
import { isSvcError, messageOf } from '../../errors.ts'
import { listEachFinding, openScanHost } from '../../lookup/scans.ts'
import { type CodeHost, isCodeHostError } from '../../ports/codehost/code-host.ts'
import type { Finding } from '../../ports/scans/findings.ts'
import type { PageCursor } from '../../ports/scans/scans.ts'
import { settlePullRequest } from '../../rules/scans/finding-state.ts'
import { nameAnalysis, writeSarif } from '../../rules/scans/sarif-export.ts'
import type { ScanContext } from './context.ts'
import { writeScanStatus } from './status.ts'

/** Findings whose pull request was open when it was last looked at. */
async function listWaiting({ records }: ScanContext, scanUid: string): Promise<Finding[]> {
  const waiting: Finding[] = []
  let after: PageCursor | undefined
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
    const settled = { state: merged ? 'merged' : 'closed', now: context.clock.now().toISOString() } as const
    await context.records.findings.change(namespace, id, (one) => settlePullRequest(one, prNumber, settled))
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

type Stand = Omit<CodeScanningStatus, 'at' | 'commit'>
type Upload = { scan: RepositoryScan; host: CodeHost; commit: string; branch: string }

const noBranch = 'code scanning takes findings of branches: set spec.branch of the scan, not spec.ref'

async function ask({ host }: Upload, uploadID: string): Promise<Stand> {
  const { state, errors } = await host.getAnalysisUpload(uploadID)
  return { uploadID, state, ...(errors.length > 0 && { message: errors.join('; ').slice(0, 1024) }) }
}

async function upload({ records }: ScanContext, { scan, host, commit, branch }: Upload): Promise<Stand> {
  const { name, uid } = scan.metadata
  const ref = `refs/heads/${branch}`
  // It may have been uploaded, and the service ended before it knew.
  if (await host.hasAnalysis({ ref, commit, category: nameAnalysis(name) })) return { state: 'complete' }
  const { repoURL } = scan.spec
  let sarif = ''
  for await (const piece of writeSarif(listEachFinding(records.findings, uid), { scan: name, repoURL, branch, commit }))
    sarif += piece
  return { state: 'pending', uploadID: await host.uploadAnalysis({ ref, commit, sarif }) }
}

async function takeStep(context: ScanContext, scan: RepositoryScan, commit: string): Promise<Stand> {
  const { branch = 'ref:', codeScanning } = scan.status ?? {}
  if (branch.startsWith('ref:')) return { state: 'failed', message: noBranch }
  const host = openScanHost(context, scan, { what: 'findings cannot be uploaded', signal: context.signal })
  const target = { scan, host, commit, branch }
  const { uploadID, commit: known } = codeScanning ?? {}
  return uploadID === undefined || known !== commit ? upload(context, target) : ask(target, uploadID)
}

/** Whether a later try may go better by itself. */
const isPassing = (error: unknown) => isCodeHostError(error, 'Unreachable') || isCodeHostError(error, 'HeldUp')

/** What is to be uploaded, or asked after; undefined: nothing. */
async function findDue({ resources }: ScanContext, { spec, metadata }: RepositoryScan) {
  if (!spec.uploadToCodeScanning) return undefined
  const scan = await resources.get('RepositoryScan', metadata)
  const { lastProcessedCommit: commit, codeScanning: known } = scan?.status ?? {}
  if (scan === undefined || scan.metadata.uid !== metadata.uid || commit === undefined) return undefined
  return known?.commit === commit && known.state !== 'pending' ? undefined : { scan, commit }
}

async function explain(context: ScanContext, scan: RepositoryScan, commit: string): Promise<Stand> {
  try {
    return await takeStep(context, scan, commit)
  } catch (error) {
    if (!isSvcError(error) || context.signal.aborted) throw error
    const known = scan.status?.codeScanning
    const uploadID = known?.commit === commit ? known.uploadID : undefined
    const state = isPassing(error) ? 'pending' : 'failed'
    return { ...(uploadID !== undefined && { uploadID }), state, message: messageOf(error).slice(0, 1024) }
  }
}

/** True: it is not known yet what became of it. Faults hold up nothing else. */
export async function uploadFindings(context: ScanContext, repositoryScan: RepositoryScan): Promise<boolean> {
  const due = await findDue(context, repositoryScan)
  if (due === undefined) return false
  const { scan, commit } = due
  const stand = await explain(context, scan, commit)
  await write(context, scan, { commit, ...stand })
  return stand.state === 'pending'
}

async function write(context: ScanContext, scan: RepositoryScan, stand: Omit<CodeScanningStatus, 'at'>): Promise<void> {
  const { at: _, ...known } = scan.status?.codeScanning ?? {}
  if (JSON.stringify(known) === JSON.stringify(stand)) return
  await writeScanStatus(context, scan, { codeScanning: { ...stand, at: context.clock.now().toISOString() } })
}
