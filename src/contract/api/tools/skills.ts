// Skills: the list has summaries; a single skill is the whole object.
import { z } from 'zod'
import { Name, Timestamp } from '../../kinds/resources/metadata.ts'
import { Skill, SkillSource } from '../../kinds/tools/skill.ts'
import { field } from '../../schema/field.ts'
import { NamespaceQuery } from '../resources/list.ts'
import { defineCreate, defineDelete, defineGet, defineList, defineUpdate } from '../resources/resource-routes.ts'
import { errorResponses, ReadHeaders, routesOf } from '../resources/route.ts'

const routesAt = { tag: 'Skills', base: '/api/v1/skills', noun: 'a skill' }

/** An entry of the list. */
export const SkillSummary = z
  .object({
    name: field(z.string(), 'Name of the Skill.', 'release-notes'),
    namespace: field(z.string(), 'Namespace of the Skill.', 'default'),
    displayName: field(z.string().optional(), 'Name for people.', 'Release notes'),
    description: field(
      z.string().optional(),
      'What the skill is for. Absent: it has not been read from its source yet.',
      'How we write release notes',
    ),
    version: field(z.string().optional(), 'Version of the skill.', '1.0.0'),
    author: field(z.string().optional(), 'Who wrote it.', 'Ada'),
    tags: field(z.array(z.string()).optional(), 'Words to find it by.', ['writing']),
    phase: field(z.enum(['Pending', 'Ready', 'Error']).optional(), 'Whether the skill can be used.'),
    createdAt: field(Timestamp, 'When it was created.'),
  })
  .meta({ id: 'SkillSummary' })
export type SkillSummary = z.infer<typeof SkillSummary>

export const createSkill = defineCreate('Skill', routesAt)
export const listSkills = defineList('Skill', routesAt, SkillSummary)
export const getSkill = defineGet('Skill', routesAt, Skill)
export const updateSkill = defineUpdate('Skill', routesAt)
export const deleteSkill = defineDelete('Skill', routesAt)

const one = routesOf({
  tag: routesAt.tag,
  base: `${routesAt.base}/:name`,
  kind: 'Skill',
  params: z.object({ name: field(Name, 'Name of the Skill.', 'release-notes') }),
  query: NamespaceQuery,
})

export const refreshSkill = one.post('/refresh', {
  summary: 'Refresh a skill',
  description:
    'Reads `SKILL.md` and the files beside it from the repository that `spec.source` names, and writes content, commit ' +
    'and hash into the skill. With `source` it is read from there from now on, and is created if there is none.',
  body: z
    .strictObject({ source: field(SkillSource.optional(), 'Where to read it from. Without it: as before.') })
    .meta({ id: 'SkillRefresh' }),
  bodyOptional: true,
  responses: {
    ...errorResponses(404, 409, 501, 502),
    200: { description: 'The skill as it is now', schema: Skill },
  },
})

export const getSkillContent = one.get('/content', {
  summary: 'The raw Markdown of a skill',
  description: 'Answers the Markdown of the skill as text.',
  headers: ReadHeaders,
  responses: { ...errorResponses(404), 200: { description: 'spec.content.inline', contentType: 'text/markdown' } },
})
