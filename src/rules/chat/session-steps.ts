// Under which key the steps of a session are stored.
import { createHash } from 'node:crypto'

/** No uid of a task begins so. */
export const sessionStepsPrefix = 'session-steps-'

export function stepsKeyOf({ namespace, name }: { namespace: string; name: string }): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([namespace, name]), 'utf8')
    .digest('hex')
  return `${sessionStepsPrefix}${digest.slice(0, 32)}`
}
