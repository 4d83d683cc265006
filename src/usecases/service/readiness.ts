// Whether the service can work: checks every dependency within one time limit (HEALTH-002).
import { abortable } from '../../lib/abort.ts'
import type { HealthCheck } from '../../ports/index.ts'

type CheckResult = 'ok' | 'unhealthy'
export type ReadinessReport = { isReady: boolean; checks: Record<string, CheckResult> }

const budgetMs = 2000

async function runCheck(check: HealthCheck, signal: AbortSignal): Promise<CheckResult> {
  return abortable(check.check(signal), signal).then(
    () => 'ok',
    () => 'unhealthy',
  )
}

/** Checks all at the same time; a check that exceeds the time limit has failed. */
export async function checkReadiness(checks: readonly HealthCheck[], ms = budgetMs): Promise<ReadinessReport> {
  const signal = AbortSignal.timeout(ms)
  const results = await Promise.all(checks.map(async (check) => [check.name, await runCheck(check, signal)] as const))
  return { isReady: results.every(([, result]) => result === 'ok'), checks: Object.fromEntries(results) }
}
