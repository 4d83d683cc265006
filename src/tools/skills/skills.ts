// Skills: what a system prompt says of them, and skill_read, which gives the text of one that the task or its agent names, and
// the files beside it, when the model wants them.
import { z } from 'zod'
import type { AssignedSkill } from '../../contract/api/tasks/assignment.ts'
import { trimPartialCharacters } from '../../lib/utf8.ts'
import { defineTool, type ModelTool, type ToolOutcome } from '../registry/tool.ts'
import { failTool } from '../registry/tool-error.ts'

const maxDescriptionLength = 1000

/** `reading` ends the sentence "read its skill ..."; empty when there are no skills. */
export function describeSkills(skills: readonly { name: string; description: string }[], reading: string): string {
  if (skills.length === 0) return ''
  const lines = skills.map(({ name, description }) => `- ${name}: ${toLine(description)}`)
  const opening = `Skills: instructions for certain work. Before you do such work, read its skill ${reading}.`
  return ['<available_skills>', opening, ...lines, '</available_skills>'].join('\n')
}

function toLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > maxDescriptionLength ? `${line.slice(0, maxDescriptionLength)}...` : line
}

export const skillReadName = 'skill_read'

const maxReadBytes = 49_152

const SkillRead = z.strictObject({
  name: z.string().min(1),
  path: z.string().optional().describe('A file of the skill; absent: its text'),
  offset: z.int().min(0).default(0).describe('First byte'),
})

/** Reads from what the run was given alone: a path is a key there, and leads nowhere else. */
export function createSkillRead(skills: readonly AssignedSkill[]): ModelTool {
  const byName = new Map(skills.map((skill) => [skill.name, skill]))
  return defineTool({
    name: skillReadName,
    description: 'Reads a skill, or with path a file of it. When truncated, go on at next_offset.',
    parameters: SkillRead,
    repeatable: true,
    ownsOutputLimit: true,
    async run({ name, path, offset }) {
      const skill = byName.get(name)
      if (skill === undefined) return failUnknown(`there is no skill "${name}"`, [...byName.keys()])
      return path === undefined ? readText(skill, offset) : readFile(skill, path, offset)
    },
  })
}

function readText({ name, inline, files = {} }: AssignedSkill, offset: number): ToolOutcome {
  const paths = Object.keys(files)
  return { success: true, name, ...readWindow(inline, offset), ...(paths.length > 0 && { files: paths }) }
}

function readFile({ name, files = {} }: AssignedSkill, path: string, offset: number): ToolOutcome {
  const text = Object.hasOwn(files, path) ? files[path] : undefined
  if (text === undefined) return failUnknown(`skill "${name}" has no file "${path}"`, Object.keys(files))
  return { success: true, name, path, ...readWindow(text, offset) }
}

function failUnknown(problem: string, known: string[]): ToolOutcome {
  return failTool('not_found', problem, known.length === 0 ? 'There are none.' : `There are: ${known.join(', ')}.`)
}

function readWindow(text: string, offset: number) {
  const bytes = Buffer.from(text)
  const end = Math.min(bytes.length, offset + maxReadBytes)
  const inside = { startsInside: offset > 0, endsInside: end < bytes.length }
  const window = trimPartialCharacters(bytes.subarray(offset, end), inside)
  const next = offset + window.skipped + window.bytes.length
  const rest = next < bytes.length ? { truncated: true, size: bytes.length, next_offset: next } : {}
  return { content: window.bytes.toString('utf8'), ...rest }
}
