// Secrets of the service itself: the keys that sign the markers of reviews, and those of webhooks. None of them reaches a worker.
import type { EnvVar } from '../contract/kinds/tasks/execution.ts'
import type { Task } from '../contract/kinds/tasks/task.ts'
import type { ConfigMaps } from '../ports/resources/configmaps.ts'
import type { Secrets } from '../ports/resources/secrets.ts'
import { type MarkerKeys, markerVariables } from '../rules/monitors/review-marker.ts'
import { readConfigEntry, readEntry } from './entries.ts'

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

export type ReviewMarkerSettings = {
  secret?: string | undefined
  previousSecrets: readonly string[]
  trustedAuthor?: string | undefined
  /** Made for the installation, the newest first; never empty. */
  installation: readonly Uint8Array[]
}

/** The keys of the service, for what no task asks for. */
export function listMarkerKeys({ secret, previousSecrets, installation }: ReviewMarkerSettings): MarkerKeys {
  return [...[secret, ...previousSecrets].filter(isKey), ...installation]
}

type Deps = { secrets: Secrets; configMaps: ConfigMaps }

async function readVariable({ secrets, configMaps }: Deps, task: Task, name: string): Promise<string | undefined> {
  const variable: EnvVar | undefined = task.spec.env?.find((one) => one.name === name)
  const { secretKeyRef, configMapKeyRef } = variable?.valueFrom ?? {}
  const { namespace } = task.metadata
  const owner = `variable ${name}`
  if (secretKeyRef !== undefined) {
    const { name: secret, key: entry } = secretKeyRef
    return (await readEntry(secrets, { namespace, name: secret }, { entry, owner })).value
  }
  if (configMapKeyRef === undefined) return variable?.value
  const { name: map, key: entry } = configMapKeyRef
  return readConfigEntry(configMaps, { namespace, name: map }, { entry, owner })
}

const isKey = (text: string | undefined): text is string => text !== undefined && text.trim() !== ''

/** What the task's environment sets goes before the settings of the service (CODEHOST-035, CODEHOST-036). */
export async function readMarkerSettings(
  deps: Deps,
  task: Task,
  { secret, previousSecrets, trustedAuthor, installation }: ReviewMarkerSettings,
): Promise<{ keys: MarkerKeys; trustedAuthor: string | undefined }> {
  const [own, previous = '', author] = await Promise.all([
    readVariable(deps, task, markerVariables.secret),
    readVariable(deps, task, markerVariables.previousSecrets),
    readVariable(deps, task, markerVariables.trustedAuthor),
  ])
  const earlier = previous.split(',').map((key) => key.trim())
  const configured = [own?.trim(), secret, ...earlier, ...previousSecrets].filter(isKey)
  return { keys: [...configured, ...installation], trustedAuthor: author?.trim() || trustedAuthor }
}
