// Skill: whether its content is usable, its size, and its digest.
import { dropUndefined } from '../../contract/json.ts'
import { type Skill, skillProblems } from '../../contract/resources/skill.ts'
import { summarize } from '../../contract/validation.ts'
import { setCondition } from '../../rules/conditions.ts'
import { hashSkill, largeSkillBytes, measureSkill } from '../../rules/skill-content.ts'
import { type Controller, defineController } from '../engine/controller.ts'
import { parseKey } from '../engine/key.ts'
import { createOwnSource } from './object-source.ts'
import { createReferenceIndex } from './reference-index.ts'
import type { CatalogDeps } from './settings.ts'
import { setReady, writeCatalogStatus } from './status.ts'

function describeSize(content: Skill['spec']['content']) {
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
function describeSource({ source }: Skill['spec'], contentHash: string) {
  const { commit, readAt, contentHash: read } = source ?? {}
  return dropUndefined(read === contentHash ? { commit, readAt } : {})
}

async function reconcileSkill({ resources, clock }: CatalogDeps, key: string): Promise<undefined> {
  const skill = await resources.get('Skill', parseKey(key))
  if (skill === undefined) return undefined
  const now = clock.now()
  const problems = skillProblems(skill.spec)
  const problem = problems.length === 0 ? undefined : summarize('skill', problems)
  const reasons: [string, string] = ['ContentValid', 'ContentInvalid']
  const ready = setReady(skill.status?.conditions, { problem, good: 'the content is usable', reasons }, now)
  const contentHash = hashSkill(skill.spec.content)
  const { commit: _commit, readAt: _readAt, ...before } = skill.status ?? {}
  await writeCatalogStatus(resources, 'Skill', skill, {
    ...before,
    ...describeSource(skill.spec, contentHash),
    phase: problem === undefined ? 'Ready' : 'Error',
    contentHash,
    conditions: setCondition(ready, describeSize(skill.spec.content), now),
  })
  return undefined
}

export function createSkillController(deps: CatalogDeps): Controller {
  const index = createReferenceIndex()
  return defineController({
    name: 'skills',
    sources: [createOwnSource(deps, 'Skill', index, () => [])],
    concurrency: 2,
    begin: () => index.clear(),
    reconcile: (key) => reconcileSkill(deps, key),
  })
}
