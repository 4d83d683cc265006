// What the tokens of a task count for: its agent, whoever stands at the root of it, its session, monitor, scan and labels.
import { z } from 'zod'
import { RecordedCaller } from '../../contract/api/identity/caller.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { readCaller } from '../identity/caller-identity.ts'
import { monitorLabel } from '../monitors/tasks.ts'
import { scanLabels } from '../scans/task-names.ts'

/** Annotation of a task whose own fields do not say it, as JSON. Only the service writes it. */
export const attributionAnnotation = 'svc.ai/attribution'

const Noted = z.object({
  agent: z.string().optional(),
  caller: RecordedCaller.optional(),
  monitor: z.string().optional(),
  scan: z.string().optional(),
})
type Noted = z.infer<typeof Noted>

export type Attribution = Noted & { session?: string | undefined; labels: Record<string, string> }

const reservedDomain = 'svc.ai/'

function readNoted(text: string | undefined): Noted {
  try {
    return Noted.safeParse(JSON.parse(text ?? '{}')).data ?? {}
  } catch {
    return {}
  }
}

/** A task is no caller: where one has created another, whoever created the first is the caller of both. */
export function attributionOf({ metadata, spec }: Pick<Task, 'metadata' | 'spec'>): Attribution {
  const { annotations, labels = {} } = metadata
  const noted = readNoted(annotations?.[attributionAnnotation])
  const creator = readCaller({ metadata, spec })
  return {
    agent: spec.agentRef?.name ?? noted.agent,
    caller: noted.caller ?? (creator?.kind === 'worker' ? undefined : creator),
    session: spec.sessionRef?.name,
    monitor: noted.monitor ?? labels[monitorLabel],
    scan: noted.scan ?? labels[scanLabels.scan],
    labels: Object.fromEntries(Object.entries(labels).filter(([key]) => !key.startsWith(reservedDomain))),
  }
}

export function noteAttribution(noted: Noted): Record<string, string> {
  return { [attributionAnnotation]: JSON.stringify(noted) }
}

/** What a task that this one creates is noted with. Its agent is its own. */
export function inheritAttribution(parent: Pick<Task, 'metadata' | 'spec'>): Record<string, string> {
  const { caller, monitor, scan } = attributionOf(parent)
  return noteAttribution({ caller, monitor, scan })
}
