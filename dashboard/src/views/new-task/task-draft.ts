// A task as the form has it, and the body that is sent for it.
import { reservedPrefix } from '../../../../src/contract/kinds/resources/metadata.ts'

export const draftSorts = ['ask', 'agent', 'command'] as const
export type DraftSort = (typeof draftSorts)[number]

export type TaskDraft = {
  sort: DraftSort
  name: string
  namespace: string
  prompt: string
  agent: string
  image: string
  command: string
  timeout: string
  schedule: string
}

/** The fields of the body that the form has controls for. */
export const draftPaths = ['name', 'namespace', 'prompt', 'ai', 'agentRef', 'image', 'command', 'timeout', 'schedule']

export function emptyDraft(namespace: string): TaskDraft {
  return {
    sort: 'ask',
    name: '',
    namespace,
    prompt: '',
    agent: '',
    image: '',
    command: '',
    timeout: '',
    schedule: '',
  }
}

function words(draft: TaskDraft): string {
  return (draft.sort === 'command' ? draft.command : draft.prompt)
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[^a-z0-9]+/g, '-')
    .split('-')
    .filter(Boolean)
    .slice(0, 4)
    .join('-')
    .slice(0, 40)
}

/** A name made of what the task is asked to do. `suffix` keeps it apart from others. */
function nameOf(draft: TaskDraft, suffix: string): string {
  return draft.name.trim() || [words(draft) || 'task', suffix].join('-')
}

/** `hasProgram`: the agent has a program of its own, which tasks of type `agent` run. */
export function bodyOf(draft: TaskDraft, { hasProgram, suffix }: { hasProgram: boolean; suffix: string }) {
  const given = (value: string) => (value.trim() === '' ? undefined : value.trim())
  const common = {
    name: nameOf(draft, suffix),
    namespace: draft.namespace,
    timeout: given(draft.timeout),
    schedule: given(draft.schedule),
  }
  if (draft.sort === 'command') {
    return { ...common, type: 'container', image: given(draft.image), command: ['sh', '-c', draft.command] } as const
  }
  const agentRef = draft.sort === 'agent' ? { agentRef: { name: draft.agent } } : {}
  const type = draft.sort === 'agent' && hasProgram ? 'agent' : 'ai'
  return { ...common, type, prompt: draft.prompt, ...agentRef } as const
}

type Labels = Readonly<Record<string, string>>
type Made = { metadata: { name: string; namespace: string; labels?: Labels | undefined }; spec: object }

/** Those that clients may set. */
function ownLabels(labels: Labels = {}): { labels?: Labels } {
  const own = Object.entries(labels).filter(([key]) => !key.startsWith(reservedPrefix))
  return own.length === 0 ? {} : { labels: Object.fromEntries(own) }
}

/** The same task again, under a name of its own: without what the service has set. */
export function cloneOf({ metadata, spec }: Made, suffix: string) {
  const { requestedBy: _by, transaction: _transaction, ...wanted } = spec as Record<string, unknown>
  const { name, namespace, labels } = metadata
  const copied = `${name.slice(0, 55)}-${suffix}`
  return { metadata: { name: copied, namespace, ...ownLabels(labels) }, spec: wanted }
}
