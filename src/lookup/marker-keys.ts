// The keys that sign the markers of reviews: of the task, of the service, and one that the installation made for itself. None of them
// reaches a worker.
import type { EnvVar } from '../contract/kinds/tasks/execution.ts'
import type { Task } from '../contract/kinds/tasks/task.ts'
import type { ConfigMaps } from '../ports/resources/configmaps.ts'
import type { Secrets } from '../ports/resources/secrets.ts'
import { markerVariables } from '../rules/monitors/marker-variables.ts'
import type { MarkerKeys } from '../rules/monitors/review-marker.ts'
import { readConfigEntry, readEntry } from './entries.ts'

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
