// Skill: knowledge for agents, in Markdown with files beside it.
import { z } from 'zod'
import type { Problem } from '../../errors.ts'
import { Condition, defineResource } from './metadata.ts'

export const SkillSource = z.strictObject({
  codehost: z.string().max(2048).optional(),
  skillName: z.string().max(256).optional(),
  context7: z.string().max(2048).optional(),
})
export type SkillSource = z.infer<typeof SkillSource>

export const SkillContent = z.strictObject({
  /** Markdown. */
  inline: z.string().min(1, 'must not be empty'),
  /** Text by relative path, placed beside the Markdown. */
  files: z.record(z.string(), z.string()).optional(),
})
export type SkillContent = z.infer<typeof SkillContent>

export const SkillSpec = z
  .strictObject({
    displayName: z.string().max(256).optional(),
    description: z.string().min(1, 'must not be empty').max(4096),
    version: z.string().max(64).optional(),
    author: z.string().max(256).optional(),
    tags: z.array(z.string().max(128)).optional(),
    content: SkillContent,
    /** Where it came from. */
    source: SkillSource.optional(),
  })
  .meta({ id: 'SkillSpec' })
export type SkillSpec = z.infer<typeof SkillSpec>

function isSafePath(path: string): boolean {
  const parts = path.split('/')
  return path !== '' && !/[\0\\]/.test(path) && parts.every((part) => part !== '' && part !== '.' && part !== '..')
}

/** Files whose path is empty, absolute or leads out of the skill's folder; paths are relative to the spec. */
export function skillProblems(spec: SkillSpec): Problem[] {
  return Object.keys(spec.content.files ?? {})
    .filter((path) => !isSafePath(path))
    .map((path) => ({
      path: `content.files[${JSON.stringify(path)}]`,
      message: 'must be a relative path without empty parts, ".", ".." and "\\"',
    }))
}

export const SkillStatus = z
  .object({
    phase: z.enum(['Ready', 'Error']).optional(),
    /** `sha256:<hex>` over the Markdown and the sorted files. */
    contentHash: z.string().optional(),
    observedGeneration: z.int().min(0).optional(),
    conditions: z.array(Condition).optional(),
  })
  .meta({ id: 'SkillStatus' })
export type SkillStatus = z.infer<typeof SkillStatus>

export const Skill = defineResource('Skill', { spec: SkillSpec, status: SkillStatus })
export type Skill = z.infer<typeof Skill>
