// Tools: built-in ones and resources in one list; names of built-in ones are reserved (409). Skills: lists show summaries.
import type { FastifyRequest } from 'fastify'
import * as skillRoutes from '../../../contract/api/tools/skills.ts'
import * as routes from '../../../contract/api/tools/tools.ts'
import type { Skill } from '../../../contract/kinds/tools/skill.ts'
import type { Tool } from '../../../contract/kinds/tools/tool.ts'
import { SvcError } from '../../../errors.ts'
import type { Bind, BindAnswer, BindOptions } from '../../bind.ts'
import type { RouteContext } from '../../deps.ts'
import { tagOfVersion } from '../../middleware/conditional.ts'
import { namedNamespace, wrapPage } from '../../paging.ts'
import { answerText, bindCreate, bindDelete, bindGet, bindList, bindUpdate } from '../resources/resources.ts'

function presentTool({ metadata, spec, status }: Tool): routes.CustomToolItem {
  const url = spec.http?.url ?? spec.mcp?.url ?? status?.endpoint
  return {
    name: metadata.name,
    namespace: metadata.namespace,
    builtin: false,
    description: spec.description,
    available: status?.available ?? false,
    ...(status?.error ? { error: status.error } : {}),
    ...(url ? { url } : {}),
    createdAt: metadata.creationTimestamp,
  }
}

function nameIn(value: unknown): unknown {
  return value !== null && typeof value === 'object' && 'name' in value ? value.name : undefined
}

/** Names of built-in tools contain "_", so they would be an invalid request before they are a conflict. */
function refuseReserved({ usecases }: RouteContext): BindOptions {
  return {
    before({ params, body }: FastifyRequest) {
      const metadata = body !== null && typeof body === 'object' && 'metadata' in body ? body.metadata : undefined
      for (const named of [params, body, metadata]) usecases.tools.requireFreeName(nameIn(named))
    },
  }
}

export function bindTools(bind: Bind, context: RouteContext): void {
  const { usecases } = context
  const guarded: BindAnswer = (route, handler) => bind(route, handler, refuseReserved(context))
  bindCreate(guarded, context, 'Tool', routes.createTool)
  bindUpdate(guarded, context, 'Tool', routes.updateTool)
  bindDelete(guarded, context, 'Tool', routes.deleteTool)
  bind(routes.listTools, async ({ caller, namespace, query }) => {
    const { builtins, tools, ...page } = await usecases.tools.list(caller, {
      ...query,
      namespace: namedNamespace({ namespace }),
    })
    const items: routes.ToolItem[] = [...builtins, ...tools.map(presentTool)]
    return { json: wrapPage({ ...page, items }, (item) => item) }
  })
  bind(routes.getTool, async ({ caller, key }) => {
    const tool = await usecases.tools.get(caller, key)
    return 'builtin' in tool ? { json: tool } : answerText(tool)
  })
}

function summarizeSkill({ metadata, spec, status }: Skill): skillRoutes.SkillSummary {
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
  bindCreate(bind, context, 'Skill', skillRoutes.createSkill)
  bindList(bind, context, { kind: 'Skill', route: skillRoutes.listSkills, present: summarizeSkill })
  bindGet(bind, context, 'Skill', skillRoutes.getSkill)
  bindUpdate(bind, context, 'Skill', skillRoutes.updateSkill)
  bindDelete(bind, context, 'Skill', skillRoutes.deleteSkill)
  bind.json(skillRoutes.refreshSkill, ({ caller, key, body }) =>
    context.usecases.skills.refresh(caller, key, body.source),
  )
  bind(skillRoutes.getSkillContent, async ({ caller, key, params }) => {
    const skill = await context.usecases.resources.get(caller, 'Skill', key)
    const tag = tagOfVersion(skill.metadata.resourceVersion)
    const { content } = skill.spec
    if (content === undefined)
      throw new SvcError('NotFound', `skill "${params.name}" has not been read from its source yet`)
    return { text: content.inline, contentType: 'text/markdown; charset=utf-8', tag }
  })
}
