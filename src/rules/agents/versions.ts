// Versions of an agent: what of it counts, and when there is a new one.
import { createHash } from 'node:crypto'
import type { AgentVersionContent } from '../../contract/api/agents/agents.ts'
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import { dropUndefined, sortKeys } from '../../lib/json.ts'

/** `prompt`: the text that the agent has, wherever it stands. */
export function readVersionContent({ spec }: Agent, prompt: string | undefined): AgentVersionContent {
  const { runtime, systemPrompt, providerRef, model, tools, skills } = spec
  const enabled = tools?.flatMap(({ name, enabled: isEnabled }) => (isEnabled ? [name] : []))
  const named = skills?.map(({ name, configMapRef: ref }) => name ?? `${ref?.name}/${ref?.key}`)
  return dropUndefined({
    prompt,
    promptFrom: systemPrompt?.configMapRef,
    providerRef,
    model,
    program: runtime?.type ?? runtime?.runtimeRef?.name,
    tools: enabled?.length ? enabled : undefined,
    skills: named?.length ? named : undefined,
  })
}

/** The same for the same content, as 64 hex digits. */
export function digestContent(content: AgentVersionContent): string {
  return createHash('sha256').update(JSON.stringify(content, sortKeys)).digest('hex')
}

export type VersionMark = { digest: string; generation: number }

/** What comes back is a version again; what a replica saw that is behind the others is none. */
export function isVersionDue(newest: VersionMark | undefined, seen: VersionMark): boolean {
  return newest === undefined || (newest.digest !== seen.digest && newest.generation <= seen.generation)
}

/** An agent that never changed has had its first version from its beginning, unless a ConfigMap could have changed. */
export function findVersionStart({ metadata, spec }: Agent, number: number, now: Date): string {
  const isUnchanged = number === 1 && metadata.generation === 1 && spec.systemPrompt?.configMapRef === undefined
  return isUnchanged ? new Date(metadata.creationTimestamp).toISOString() : now.toISOString()
}
