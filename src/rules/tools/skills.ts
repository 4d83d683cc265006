// A skill as a folder: `SKILL.md`, which begins with its name and description as YAML, and the files beside it.
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { type SkillContent, skillTextName } from '../../contract/kinds/tools/skill.ts'
import { SvcError } from '../../errors.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'

/** A skill with more bytes than this takes up much of the context of a model that reads it. */
export const largeSkillBytes = 10_240

function listFiles(content: SkillContent): [path: string, text: string][] {
  return Object.entries(content.files ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))
}

/**
 * `sha256:<hex>` over the Markdown and the files sorted by path; lengths are hashed too, so different contents never
 * match.
 */
export function hashSkill(content: SkillContent): string {
  const hash = createHash('sha256')
  for (const text of [content.inline, ...listFiles(content).flat()]) {
    const bytes = Buffer.from(text)
    hash.update(`${bytes.length}\n`).update(bytes)
  }
  return `sha256:${hash.digest('hex')}`
}

export function measureSkill(content: SkillContent): number {
  return [content.inline, ...Object.values(content.files ?? {})].reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}

/** A text without a description, as a delimited section of a system prompt. */
export function formatSkill(name: string, text: string): string {
  return [`<skill name="${name}">`, text.trimEnd(), '</skill>'].join('\n')
}

/** The time to read YAML grows with the square of its length. */
const maxHeaderLength = 16_384

export type SkillFolder = {
  /** As the folder itself says. */
  name: string | undefined
  spec: { description: string; version?: string; author?: string; content: SkillContent }
}

/** InvalidRequest for what is not text. */
export function readSkillText(path: string, bytes: Buffer): string {
  if (isUtf8(bytes) && !bytes.includes(0)) return bytes.toString('utf8')
  throw new SvcError('InvalidRequest', `${path} is not text, which files of a skill must be; take it out of the folder`)
}

/** From texts by their path. InvalidRequest when they are no skill. */
export async function readSkillFolder(folder: string, texts: Record<string, string>): Promise<SkillFolder> {
  const { [skillTextName]: text, ...others } = texts
  if (text === undefined) throw new SvcError('InvalidRequest', `${folder} has no ${skillTextName}`)
  const { head, body } = await splitHead(text)
  const description = textAt(head, 'description')
  if (description === undefined) {
    throw new SvcError(
      'InvalidRequest',
      `${skillTextName} must begin with its name and description, between two lines of ---`,
    )
  }
  const meta = isJsonObject(head.metadata) ? head.metadata : {}
  const version = textAt(head, 'version') ?? textAt(meta, 'version')
  const author = textAt(head, 'author') ?? textAt(meta, 'author')
  const content = { inline: body, ...(Object.keys(others).length > 0 && { files: others }) }
  return {
    name: textAt(head, 'name'),
    spec: { description, ...(version && { version }), ...(author && { author }), content },
  }
}

function textAt(fields: JsonObject, name: string): string | undefined {
  const value = fields[name]
  return ['string', 'number'].includes(typeof value) && String(value).trim() !== '' ? String(value) : undefined
}

/** The YAML at the beginning, and the Markdown after it. */
async function splitHead(text: string): Promise<{ head: JsonObject; body: string }> {
  const [, yaml, body] = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)([\s\S]*)$/.exec(text) ?? []
  if (yaml === undefined || body === undefined) return { head: {}, body: text }
  if (yaml.length > maxHeaderLength) {
    throw new SvcError(
      'InvalidRequest',
      `the beginning of ${skillTextName}, between two lines of ---, has more than ${maxHeaderLength} characters; shorten it`,
    )
  }
  const { parse } = await import('yaml')
  try {
    // Its warnings would be written to standard error, as many as there are odd lines.
    const head: unknown = parse(yaml, { logLevel: 'error' })
    return { head: isJsonObject(head) ? head : {}, body: body.trimStart() }
  } catch (error) {
    throw new SvcError('InvalidRequest', `the beginning of ${skillTextName} is not YAML: ${(error as Error).message}`)
  }
}
