// What the code host signs its deliveries with. Read anew for each of them, so that a secret is changed without a restart.
import type { Secrets } from '../ports/resources/secrets.ts'

export type WebhookSecretSettings = {
  /** From the settings; absent: only the Secret counts. */
  secret?: string | undefined
  /** Earlier ones, which still count. */
  previousSecrets: readonly string[]
  /** Name of a Secret with the entries `secret` and `previous`. */
  secretName?: string | undefined
  /** Of that Secret. */
  namespace: string
}

function splitLines(text: string): string[] {
  return text.split('\n').map((line) => line.trim())
}

/** The current one first; empty when there is none. Earlier ones alone are none. */
export async function readWebhookSecrets(
  secrets: Pick<Secrets, 'read'>,
  { secret, previousSecrets, secretName, namespace }: WebhookSecretSettings,
): Promise<string[]> {
  const stored = secretName === undefined ? undefined : await secrets.read({ namespace, name: secretName })
  const current = [stored?.secret?.trim(), secret].filter((one) => one !== undefined && one !== '')
  if (current.length === 0) return []
  const all = [...current, ...splitLines(stored?.previous ?? ''), ...previousSecrets]
  return [...new Set(all as string[])].filter((one) => one !== '')
}
