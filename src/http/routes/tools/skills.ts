// Skills: lists show summaries; the Markdown is available as it is.
import * as routes from '../../../contract/api/tools/skills.ts'
import type { Skill } from '../../../contract/kinds/tools/skill.ts'
import { SvcError } from '../../../errors.ts'
import type { Bind } from '../../bind.ts'
import { tagOfVersion } from '../../middleware/conditional.ts'
import type { RouteContext } from '../../route-context.ts'
import { bindCreate, bindDelete, bindGet, bindList, bindUpdate } from '../resources/resources.ts'

function summarizeSkill({ metadata, spec, status }: Skill): routes.SkillSummary {
  const { displayName, description, version, author, tags } = spec
  // JSON leaves out undefined fields.
  return {
    name: metadata.name,
    namespace: metadata.namespace,
    displayName,
    description,
    version,
    author,
    tags,
    phase: status?.phase,
    createdAt: metadata.creationTimestamp,
  }
}

export function bindSkills(bind: Bind, context: RouteContext): void {
  bindCreate(bind, context, 'Skill', routes.createSkill)
  bindList(bind, context, { kind: 'Skill', route: routes.listSkills, present: summarizeSkill })
  bindGet(bind, context, 'Skill', routes.getSkill)
  bindUpdate(bind, context, 'Skill', routes.updateSkill)
  bindDelete(bind, context, 'Skill', routes.deleteSkill)
  bind(routes.refreshSkill, async ({ caller, namespace, params, body }) => {
    return { json: await context.usecases.skills.refresh(caller, { namespace, name: params.name }, body.source) }
  })
  bind(routes.getSkillContent, async ({ caller, namespace, params }) => {
    const skill = await context.usecases.resources.get(caller, 'Skill', { namespace, name: params.name })
    const tag = tagOfVersion(skill.metadata.resourceVersion)
    const { content } = skill.spec
    if (content === undefined)
      throw new SvcError('NotFound', `skill "${params.name}" has not been read from its source yet`)
    return { text: content.inline, contentType: 'text/markdown; charset=utf-8', tag }
  })
}
