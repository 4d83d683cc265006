// skill add and skill show: a skill from a folder with a SKILL.md, and its text.

import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import type { Command } from 'commander'
import { createSkill, getSkillContent } from '../../contract/api/skills.ts'
import { isJsonObject, type JsonObject } from '../../contract/json.ts'
import type { SkillContent } from '../../contract/resources/skill.ts'
import { isSvcError, SvcError } from '../../errors.ts'
import { findEntry } from '../catalog.ts'
import { changeObject } from '../change-object.ts'
import type { CliContext } from '../context.ts'
import { listFolder } from '../folder-files.ts'
import { namespaceOf, readGlobalOptions } from '../global-options.ts'
import type { Spec } from '../spec-options.ts'
import { tellChanges } from './spec-commands.ts'

const textName = 'SKILL.md'

type Place = { command: Command; context: CliContext }

export function addSkillFolders(group: Command, context: CliContext): void {
  group
    .command('add <folder>')
    .description(`make a skill from a folder with a ${textName}, or bring it up to date`)
    .option('--name <name>', `its name (default: the one in ${textName}, or of the folder)`)
    .action((folder: string, given: { name?: string }, command: Command) =>
      add(folder, given.name, { command, context }),
    )
  group
    .command('show <name>')
    .description('print the Markdown of a skill')
    .action((name: string, _given: unknown, command: Command) => show(name, { command, context }))
}

async function add(folder: string, wanted: string | undefined, { command, context }: Place): Promise<void> {
  if (/^[a-z+]+:\/\//i.test(folder)) {
    throw new SvcError('InvalidRequest', `${folder} is an address: fetch it to this machine and name the folder`)
  }
  const found = await readSkillFolder(resolve(folder))
  const name = wanted ?? found.name
  if (found.leftOut.length > 0) context.terminal.note(`left out: ${found.leftOut.join(', ')}`)
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  const query = namespaceOf(options)
  try {
    await client.call(createSkill, { body: { name, ...query, spec: found.spec } })
    context.terminal.note(`skill ${name} created`)
  } catch (error) {
    if (!isSvcError(error, 'AlreadyExists')) throw error
    const change = (before: Spec) => ({ ...before, ...found.spec })
    tellChanges(`skill ${name}`, await changeObject(client, findEntry('skill'), { name, query }, change), context)
  }
}

async function show(name: string, { command, context }: Place): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  const answer = await client.open(getSkillContent, { params: { name }, query: namespaceOf(options) })
  context.terminal.print((await answer.text()).replace(/\n$/, ''))
}

type SkillFolder = {
  name: string
  spec: { description: string; version?: string; author?: string; content: SkillContent }
  leftOut: string[]
}

/** InvalidRequest when it is no skill, or has files that are not text. */
async function readSkillFolder(folder: string): Promise<SkillFolder> {
  const { files, leftOut } = await listFolder(folder)
  const texts = await Promise.all(files.map(async ({ path }) => [path, await readText(folder, path)] as const))
  const { [textName]: text, ...others } = Object.fromEntries(texts)
  if (text === undefined) throw new SvcError('InvalidRequest', `${folder} has no ${textName}`)
  const { head, body } = await splitHead(text)
  const description = textAt(head, 'description')
  if (description === undefined) {
    throw new SvcError(
      'InvalidRequest',
      `${textName} must begin with its name and description, between two lines of ---`,
    )
  }
  const meta = isJsonObject(head.metadata) ? head.metadata : {}
  const version = textAt(head, 'version') ?? textAt(meta, 'version')
  const author = textAt(head, 'author') ?? textAt(meta, 'author')
  const content = { inline: body, ...(Object.keys(others).length > 0 && { files: others }) }
  const spec = { description, ...(version && { version }), ...(author && { author }), content }
  return { name: textAt(head, 'name') ?? basename(folder), spec, leftOut }
}

async function readText(folder: string, path: string): Promise<string> {
  const bytes = await readFile(join(folder, path))
  if (isUtf8(bytes) && !bytes.includes(0)) return bytes.toString('utf8')
  throw new SvcError('InvalidRequest', `${path} is not text, which files of a skill must be; take it out of the folder`)
}

function textAt(fields: JsonObject, name: string): string | undefined {
  const value = fields[name]
  return ['string', 'number'].includes(typeof value) && String(value).trim() !== '' ? String(value) : undefined
}

/** The YAML at the beginning, and the Markdown after it. */
async function splitHead(text: string): Promise<{ head: JsonObject; body: string }> {
  const [, yaml, body] = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)([\s\S]*)$/.exec(text) ?? []
  if (yaml === undefined || body === undefined) return { head: {}, body: text }
  const { parse } = await import('yaml')
  try {
    const head: unknown = parse(yaml)
    return { head: isJsonObject(head) ? head : {}, body: body.trimStart() }
  } catch (error) {
    throw new SvcError('InvalidRequest', `the beginning of ${textName} is not YAML: ${(error as Error).message}`)
  }
}
