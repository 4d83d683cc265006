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

/** A replica that has lost its term may be behind the others for so long; generations begin anew in a restored cluster. */
const behindMs = 60_000

type Mark = { digest: string; generation: number }

/** What comes back is a version again; what a replica saw that is behind the others is none. */
export function isVersionDue(newest: (Mark & { since: string }) | undefined, seen: Mark, now: Date): boolean {
  if (newest === undefined) return true
  const isBehind = seen.generation < newest.generation && now.getTime() - Date.parse(newest.since) < behindMs
  return newest.digest !== seen.digest && !isBehind
}

/** An agent that never changed has had its first version from its beginning, unless a ConfigMap could have changed. */
export function findVersionStart({ metadata, spec }: Agent, number: number, now: Date): string {
  const isUnchanged = number === 1 && metadata.generation === 1 && spec.systemPrompt?.configMapRef === undefined
  return isUnchanged ? new Date(metadata.creationTimestamp).toISOString() : now.toISOString()
}
