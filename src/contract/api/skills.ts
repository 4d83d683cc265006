// Skills: lists have summaries, single reads the whole object.
import { z } from 'zod'
import { Name } from '../resources/metadata.ts'
import { Skill } from '../resources/skill.ts'
import { NamespaceQuery } from './list.ts'
import { defineCreate, defineDelete, defineGet, defineList, defineUpdate } from './resource-routes.ts'
import { defineRoute, errorResponses, ReadHeaders } from './route.ts'

const place = { tag: 'Skills', base: '/api/v1/skills', noun: 'a skill' }

/** An entry of the list. */
export const SkillSummary = z
  .object({
    name: z.string(),
    namespace: z.string(),
    displayName: z.string().optional(),
    description: z.string(),
    version: z.string().optional(),
    author: z.string().optional(),
    tags: z.array(z.string()).optional(),
    phase: z.enum(['Ready', 'Error']).optional(),
  })
  .meta({ id: 'SkillSummary' })
export type SkillSummary = z.infer<typeof SkillSummary>

export const createSkill = defineCreate('Skill', place)
export const listSkills = defineList('Skill', place, SkillSummary)
export const getSkill = defineGet('Skill', place, Skill)
export const updateSkill = defineUpdate('Skill', place)
export const deleteSkill = defineDelete('Skill', place)

export const getSkillContent = defineRoute({
  method: 'GET',
  path: '/api/v1/skills/:name/content',
  tag: place.tag,
  summary: 'The raw Markdown of a skill',
  params: z.object({ name: Name }),
  query: NamespaceQuery,
  headers: ReadHeaders,
  responses: { ...errorResponses(404), 200: { description: 'spec.content.inline', contentType: 'text/markdown' } },
  auth: 'user',
  verb: { verb: 'get', kind: 'Skill' },
})
