// Skills that come from a repository: read on request, and pinned to the commit that was read.
import type { Skill, SkillSource, SkillSpec } from '../../contract/kinds/tools/skill.ts'
import { SvcError } from '../../errors.ts'
import { readSkillSource } from '../../lookup/tools.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import { requireAccess } from '../identity/access.ts'
import { requireReferences } from '../resources/admission/references.ts'
import { notFound } from '../resources/listing.ts'
import type { ResourceUsecases } from '../resources/resources.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { createSlots } from '../service/slots.ts'

export type SkillUsecases = {
  /**
   * Reads a skill anew from `source`, else from its own; one that does not exist is made with a `source`. NotFound,
   * Forbidden, InvalidRequest, NotConfigured, TooManyRequests; UpstreamFailed when the repository cannot be read; the
   * errors of writing.
   */
  refresh(caller: Caller, key: ResourceKey, source: SkillSource | undefined): Promise<Skill>
}

const never = new AbortController().signal

export function createSkillUsecases(deps: UsecaseDeps, resources: ResourceUsecases): SkillUsecases {
  const { ports } = deps
  const slots = createSlots('refreshes of skills', { max: 4, perNamespace: 4, perCaller: 2 })

  async function write(
    caller: Caller,
    { name, namespace }: ResourceKey,
    { before, spec }: { before: Skill | undefined; spec: SkillSpec },
  ): Promise<Skill> {
    if (before === undefined) return resources.create(caller, 'Skill', { metadata: { name }, namespace, spec })
    const { resourceVersion } = before.metadata
    return resources.replace(caller, 'Skill', { name, namespace }, { metadata: { resourceVersion }, spec })
  }

  return {
    async refresh(caller, key, newSource) {
      await requireAccess(ports, caller, { verb: 'update', kind: 'Skill', ...key })
      const before = await ports.resources.get('Skill', key)
      const source = newSource ?? before?.spec.source
      if (source === undefined && before === undefined) throw await notFound(ports, caller, 'Skill', key)
      if (source?.codehost === undefined) {
        throw new SvcError('InvalidRequest', `skill "${key.name}" comes from no repository: give a source.codehost`)
      }
      // Before anything is read with a Secret, and again when it is written.
      const named = { description: '-', content: { inline: '-' }, source }
      await requireReferences('Skill', { caller, ...key, spec: named }, deps)
      const free = slots.take({ caller, namespace: key.namespace })
      try {
        const request = { namespace: key.namespace, before: before?.spec, source }
        const spec = await readSkillSource(ports, request, never)
        return await write(caller, key, { before, spec })
      } finally {
        free()
      }
    },
  }
}
