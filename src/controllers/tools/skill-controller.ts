// Skill: whether its content is usable, its size, and its digest; content that is not there yet is read from the source.
import {
  isRead,
  type Skill,
  type SkillContent,
  type SkillSource,
  type SkillSpec,
  type SkillStatus,
  skillProblems,
} from '../../contract/kinds/tools/skill.ts'
import { summarizeProblems } from '../../contract/schema/validation.ts'
import { isSvcError } from '../../errors.ts'
import { monotonicMs } from '../../lib/clock.ts'
import { dropUndefined } from '../../lib/json.ts'
import { readSkillSource } from '../../lookup/tools.ts'
import { setCondition } from '../../rules/resources/conditions.ts'
import { hashSkill, largeSkillBytes, measureSkill } from '../../rules/tools/skills.ts'
import { type Controller, defineController, formatKey, parseKey, type Reconciled } from '../engine/controller.ts'
import { createOwnSource, createReferenceIndex } from '../resources/object-source.ts'
import type { ResourceControllerDeps } from '../resources/settings.ts'
import { writeResourceStatus } from '../resources/status.ts'

function describeSize(content: SkillContent) {
  const bytes = measureSkill(content)
  const isLarge = bytes > largeSkillBytes
  return {
    type: 'ContentSizeWarning',
    status: isLarge ? ('True' as const) : ('False' as const),
    reason: isLarge ? 'LargeContent' : 'ContentSizeFine',
    message: isLarge
      ? `the content has ${bytes} bytes; above ${largeSkillBytes} it takes up much of the context of a model that reads all of it`
      : `the content has ${bytes} bytes`,
  }
}

/** Of content that is as it was read. */
function describeSource({ source }: SkillSpec, contentHash: string) {
  const { commit, readAt, contentHash: read } = source ?? {}
  return dropUndefined(read === contentHash ? { commit, readAt } : {})
}

type Outcome = { phase: NonNullable<SkillStatus['phase']>; reason: string; message: string }

async function writeStatus(
  { resources, clock }: ResourceControllerDeps,
  skill: Skill,
  outcome: Outcome,
): Promise<void> {
  const { phase, reason, message } = outcome
  const { commit: _commit, readAt: _readAt, contentHash: _hash, ...before } = skill.status ?? {}
  const { content } = skill.spec
  const now = clock.now()
  const status = phase === 'Ready' ? 'True' : 'False'
  const conditions = setCondition(before.conditions, { type: 'Ready', status, reason, message }, now)
  const contentHash = content === undefined ? undefined : hashSkill(content)
  await writeResourceStatus(resources, 'Skill', skill, {
    ...before,
    ...(contentHash !== undefined && { ...describeSource(skill.spec, contentHash), contentHash }),
    phase,
    conditions: content === undefined ? conditions : setCondition(conditions, describeSize(content), now),
  })
}

/** A source that could not be read is not asked again before. */
const rereadMs = 60_000

/** Skills that could not be read, by key: which generation of it, when and why. */
type Failure = { generation: number | undefined; at: number; message: string }
type Failures = Map<string, Failure>
type SkillContext = ResourceControllerDeps & { failures: Failures }

/** That of the last minute. The status that tells of it is a change of the skill, too. */
function findFailure({ failures, clock }: SkillContext, { metadata }: Skill): Failure | undefined {
  const failed = failures.get(formatKey(metadata))
  const isOver = failed?.generation !== metadata.generation || monotonicMs(clock) >= failed.at + rereadMs
  return isOver ? undefined : failed
}

/** Its content is written like that of a refresh; the next look finds it there. */
async function readContent(
  deps: SkillContext,
  skill: Skill,
  source: SkillSource,
  signal: AbortSignal,
): Promise<Reconciled> {
  const { resources, clock, failures } = deps
  const failed = findFailure(deps, skill)
  if (failed !== undefined) {
    await writeStatus(deps, skill, { phase: 'Error', reason: 'SourceUnreadable', message: failed.message })
    return { requeueAfterMs: failed.at + rereadMs - monotonicMs(clock) }
  }
  const { namespace, generation } = skill.metadata
  const message = `it is read from ${source.codehost}`
  await writeStatus(deps, skill, { phase: 'Pending', reason: 'ReadingSource', message })
  try {
    const spec = await readSkillSource(deps, { namespace, before: skill.spec, source }, signal)
    const found = await resources.get('Skill', skill.metadata)
    // Whoever changed it meanwhile is heard first.
    if (found?.metadata.generation === generation) await resources.update('Skill', { ...found, spec })
    failures.delete(formatKey(skill.metadata))
  } catch (error) {
    if (signal.aborted || !isSvcError(error)) throw error
    if (error.reason === 'Conflict') return { requeueAfterMs: 0 }
    const { message: why } = error
    failures.set(formatKey(skill.metadata), { generation, at: monotonicMs(clock), message: why })
    return { requeueAfterMs: 0 }
  }
  return undefined
}

async function reconcileSkill(deps: SkillContext, key: string, signal: AbortSignal): Promise<Reconciled> {
  const skill = await deps.resources.get('Skill', parseKey(key))
  if (skill === undefined) {
    deps.failures.delete(key)
    return undefined
  }
  const problems = skillProblems(skill.spec)
  if (problems.length > 0) {
    const message = summarizeProblems('skill', problems)
    await writeStatus(deps, skill, { phase: 'Error', reason: 'ContentInvalid', message })
    return undefined
  }
  const { source } = skill.spec
  if (!isRead(skill.spec) && source !== undefined) return readContent(deps, skill, source, signal)
  await writeStatus(deps, skill, { phase: 'Ready', reason: 'ContentValid', message: 'the content is usable' })
  return undefined
}

export function createSkillController(deps: ResourceControllerDeps): Controller {
  const index = createReferenceIndex()
  const context = { ...deps, failures: new Map() }
  return defineController({
    name: 'skills',
    sources: [createOwnSource(deps, 'Skill', index, () => [])],
    concurrency: 2,
    begin: () => index.clear(),
    reconcile: (key, signal) => reconcileSkill(context, key, signal),
  })
}
