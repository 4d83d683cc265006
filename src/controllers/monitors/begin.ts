// What a step works with: the repository as its login sees it, and the branch; or why there is nothing to work with.

import type { RepositoryMonitor } from '../../contract/kinds/monitors/repository-monitor.ts'
import { isSvcError } from '../../errors.ts'
import { openCodeHost } from '../../lookup/code-host-login.ts'
import { findUnfitness, repositoryOf } from '../../lookup/monitor-fitness.ts'
import { isCodeHostError } from '../../ports/codehost/code-host.ts'
import type { MonitorKey } from '../../ports/monitors/monitor-records.ts'
import { failRun } from './run.ts'
import { lookAgainMs, type MonitorDeps, type MonitorWork, retryMs } from './settings.ts'
import type { Outlook } from './status.ts'

async function findBranch({ spec, status }: RepositoryMonitor, host: MonitorWork['host']): Promise<string> {
  if (spec.branch !== undefined) return spec.branch
  // Asked again at each run: a default branch may be renamed.
  return (await host.getRepository()).defaultBranch ?? status?.branch
}

type Begun = { work: MonitorWork } | { outlook: Outlook; waitMs: number }

/** Why it cannot work at all; asked of what the service itself knows. */
export async function findProblem(
  deps: MonitorDeps,
  { spec, metadata }: RepositoryMonitor,
): Promise<Outlook['problem']> {
  const { namespace } = metadata
  const asked = { ...deps, hosts: deps.codeHosts.hosts, isolateNamespaces: deps.settings.isolateNamespaces }
  const unfit = await findUnfitness(asked, { namespace, spec })
  const message = unfit.map(({ path, message: why }) => `spec.${path} ${why}`).join('; ')
  return unfit[0] && { reason: unfit[0].reason, message }
}

/** What a step works with; otherwise why it cannot, after which the runs that wait have failed or wait on. */
export async function begin(deps: MonitorDeps, monitor: RepositoryMonitor, key: MonitorKey): Promise<Begun> {
  const problem = await findProblem(deps, monitor)
  const repository = repositoryOf(monitor.spec, deps.codeHosts.hosts)
  if (problem !== undefined || repository === undefined) {
    await failWaiting(deps, key, problem?.message ?? '')
    return { outlook: problem === undefined ? {} : { problem }, waitMs: lookAgainMs }
  }
  const { gitSecretRef } = monitor.spec
  const secret = gitSecretRef && { namespace: key.namespace, name: gitSecretRef.name }
  const host = openCodeHost(deps, { secret, repository, owner: 'spec.gitSecretRef' })
  try {
    return { work: { deps, monitor, key, repository, host, branch: await findBranch(monitor, host) } }
  } catch (error) {
    if (!isSvcError(error)) throw error
    return cannotAsk(deps, key, error)
  }
}

/** The code host does not say which branch it is. */
async function cannotAsk(deps: MonitorDeps, key: MonitorKey, error: Error): Promise<Begun> {
  if (isCodeHostError(error, 'HeldUp')) {
    const heldUpUntil = error.heldUpUntil ?? new Date(deps.clock.now().getTime() + retryMs).toISOString()
    return { outlook: { heldUpUntil }, waitMs: Math.max(1000, Date.parse(heldUpUntil) - deps.clock.now().getTime()) }
  }
  if (isCodeHostError(error, 'Unreachable')) {
    return { outlook: { problem: { reason: 'CodeHostUnreachable', message: error.message } }, waitMs: retryMs }
  }
  await failWaiting(deps, key, error.message)
  return { outlook: { problem: { reason: 'RunFailed', message: error.message } }, waitMs: lookAgainMs }
}

async function failWaiting(deps: MonitorDeps, key: MonitorKey, message: string): Promise<void> {
  for (
    let run = await deps.records.monitors.takeRun(key);
    run !== undefined;
    run = await deps.records.monitors.takeRun(key)
  ) {
    await failRun(deps, key, run, { error: message })
  }
}
