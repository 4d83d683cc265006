// Skill: knowledge for agents, in Markdown with files beside it.
import { z } from 'zod'
import type { Problem } from '../../../errors.ts'
import { isInnerPath } from '../../../lib/inner-path.ts'
import { field, oneHolds, publishedMark } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { Condition, defineResource, Timestamp } from '../resources/metadata.ts'
import { SecretRef } from '../resources/references.ts'
import { GitRevision, RelativePath } from '../tasks/execution.ts'

/** Where a skill came from. */
export const SkillSource = z.strictObject({
  codehost: field(
    limitedText(2048).optional(),
    'Repository that the skill came from.',
    'https://github.com/owner/skills',
  ),
  path: field(
    RelativePath.optional(),
    'Folder of the skill in the repository. Without it: the repository is the skill.',
    'writing/release-notes',
  ),
  ref: field(GitRevision.optional(), 'Branch, tag or commit to read. Without it: the default branch.', 'main'),
  secretRef: field(SecretRef.optional(), 'Secret with the credentials of the repository.'),
  commit: field(
    z
      .string()
      .regex(/^[0-9a-f]{40,64}$/, 'must be the full id of a commit')
      .optional(),
    'Commit that the content was read from. The service writes it.',
    '5f0f2b1c7d3e4a9b8c6d5e4f3a2b1c0d9e8f7a6b',
  ),
  contentHash: field(
    limitedText(128).optional(),
    '`status.contentHash` of what was read. The service writes it.',
    'sha256:9f86d081884c7d65',
  ),
  readAt: field(Timestamp.optional(), 'When it was read. The service writes it.'),
  skillName: field(limitedText(256).optional(), 'Name of the skill in that repository.', 'release-notes'),
  context7: field(limitedText(2048).optional(), 'Id of the library at Context7.', '/owner/library'),
})
export type SkillSource = z.infer<typeof SkillSource>

/** Text and files of a skill. */
export const SkillContent = z.strictObject({
  inline: field(z.string().min(1, 'must not be empty'), 'Text of the skill, in Markdown.', '# Release notes'),
  files: field(z.record(z.string(), z.string()).optional(), 'Files next to the Markdown: text by relative path.', {
    'examples/a.md': '# Example',
  }),
})
export type SkillContent = z.infer<typeof SkillContent>

/** The spec of a skill. */
export const SkillSpec = z
  .strictObject({
    displayName: field(limitedText(256).optional(), 'Name for people.', 'Release notes'),
    description: field(
      limitedText(4096).min(1, 'must not be empty').optional(),
      'What the skill is for. Models go by it when they choose what to read. Without it, as without `content`: what the source says.',
      'How we write release notes',
    ),
    version: field(limitedText(64).optional(), 'Version of the skill.', '1.0.0'),
    author: field(limitedText(256).optional(), 'Who wrote it.', 'Ada'),
    tags: field(z.array(limitedText(128)).optional(), 'Words to find it by.', ['writing']),
    content: field(
      SkillContent.optional(),
      'Text and files of the skill. Without them: the service reads them from `source`, and writes them here.',
    ),
    source: field(SkillSource.optional(), 'Where the skill came from.'),
  })
  .meta({
    id: 'SkillSpec',
    [publishedMark]: oneHolds(
      { required: ['description', 'content'] },
      { required: ['source'], properties: { source: { required: ['codehost'] } } },
    ),
  })
export type SkillSpec = z.infer<typeof SkillSpec>

/** The file of `content.inline`, wherever a skill is a folder. */
export const skillTextName = 'SKILL.md'

/** Bounds of the files of one skill. */
export const skillLimits = { files: 500, pathLength: 255 } as const

/** Of each part of a path, as file systems have it. */
const maxNameBytes = 255
const encoder = new TextEncoder()

/** Whether the path would be a file and a folder at once. */
function isFolderToo(path: string, paths: ReadonlySet<string>): boolean {
  return path.split('/').some((_part, at, parts) => at > 0 && paths.has(parts.slice(0, at).join('/')))
}

/** One that can be used. */
export type ReadSkillSpec = SkillSpec & Required<Pick<SkillSpec, 'description' | 'content'>>

export function isRead(spec: SkillSpec): spec is ReadSkillSpec {
  return spec.description !== undefined && spec.content !== undefined
}

/** What must be there, unless it can be read from a source. */
function missingProblems({ description, content, source }: SkillSpec): Problem[] {
  if (source?.codehost !== undefined) return []
  const missing = { description: description === undefined, content: content === undefined }
  const message = 'is required without source.codehost, which it could be read from'
  return Object.entries(missing).flatMap(([path, isMissing]) => (isMissing ? [{ path, message }] : []))
}

/** Problems of files that cannot lie in the skill's folder, and of too many; paths are relative to the spec. */
export function skillProblems(spec: SkillSpec): Problem[] {
  return [...missingProblems(spec), ...fileProblems(spec.content)]
}

function fileProblems({ files = {} }: Partial<SkillContent> = {}): Problem[] {
  const paths = new Set(Object.keys(files))
  if (paths.size > skillLimits.files)
    return [{ path: 'content.files', message: `has ${paths.size} files; at most ${skillLimits.files}` }]
  const taken = new Set([...paths, skillTextName])
  return [...paths].flatMap((path) => {
    const message = pathProblem(path) ?? (isFolderToo(path, taken) ? 'lies in a path that is a file' : undefined)
    return message === undefined ? [] : [{ path: `content.files[${JSON.stringify(path.slice(0, 200))}]`, message }]
  })
}

function pathProblem(path: string): string | undefined {
  if (path.length > skillLimits.pathLength) return `must have at most ${skillLimits.pathLength} characters`
  if (!isInnerPath(path)) return 'must be a relative path without empty parts, ".", ".." and "\\"'
  const isLong = path.split('/').some((part) => encoder.encode(part).length > maxNameBytes)
  return isLong ? `must have at most ${maxNameBytes} bytes between two "/"` : undefined
}

/** The status of a skill, written by the service. */
export const SkillStatus = z
  .object({
    phase: field(
      z.enum(['Pending', 'Ready', 'Error']).optional(),
      'Whether the skill can be used. Pending: it is being read from its source.',
    ),
    contentHash: field(
      z.string().optional(),
      '`sha256:<hex>` over the Markdown and the sorted files.',
      'sha256:9f86d081884c7d65',
    ),
    commit: field(
      z.string().optional(),
      'Commit of `spec.source` that the content is as it is there. Absent: it has no such source, or was changed since.',
      '5f0f2b1c7d3e4a9b8c6d5e4f3a2b1c0d9e8f7a6b',
    ),
    readAt: field(Timestamp.optional(), 'When the content was last read from there.'),
    observedGeneration: field(z.int().min(0).optional(), 'The `metadata.generation` that this status is about.', 1),
    conditions: field(z.array(Condition).optional(), 'Conditions in the form that Kubernetes uses.'),
  })
  .meta({ id: 'SkillStatus' })
export type SkillStatus = z.infer<typeof SkillStatus>

/** A skill as it is stored. */
export const Skill = defineResource('Skill', { spec: SkillSpec, status: SkillStatus })
export type Skill = z.infer<typeof Skill>
