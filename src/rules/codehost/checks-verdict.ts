// What the checks of a commit say together: one strictness for looking, merging and merging later.

/** Structurally a check of the port. */
type SeenCheck = { name: string; state: 'passed' | 'failed' | 'pending'; outcome: string }

export type ChecksVerdict = {
  status: 'passed' | 'failed' | 'pending' | 'no_checks'
  passed: number
  failed: number
  pending: number
  /** Those that have not passed, with the code host's word for it. */
  details: string[]
}

/** A failure goes before what is still running; without any check nothing has passed. */
export function judgeChecks(checks: readonly SeenCheck[]): ChecksVerdict {
  const count = (state: SeenCheck['state']) => checks.filter((check) => check.state === state).length
  const [passed, failed, pending] = [count('passed'), count('failed'), count('pending')]
  const open = checks.filter(({ state }) => state !== 'passed')
  const status = failed > 0 ? 'failed' : pending > 0 ? 'pending' : passed > 0 ? 'passed' : 'no_checks'
  return {
    status,
    passed,
    failed,
    pending,
    details: open.slice(0, 50).map(({ name, outcome }) => `${name}: ${outcome}`),
  }
}
