// skill add and skill show: a skill from a folder with a SKILL.md, and its text.
import { readFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import type { Command } from 'commander'
import { createSkill, getSkillContent, refreshSkill } from '../../../contract/api/tools/skills.ts'
import { type SkillSource, skillTextName } from '../../../contract/kinds/tools/skill.ts'
import { isSvcError, SvcError } from '../../../errors.ts'
import { dropUndefined } from '../../../lib/json.ts'
import { readSkillFolder, readSkillText, type SkillFolder } from '../../../rules/tools/skills.ts'
import { callService, openCall, type ServiceCall } from '../../action.ts'
import type { CliContext } from '../../context.ts'
import { listFolder } from '../../files/folder-files.ts'
import { changeObject } from '../../objects/change-object.ts'
import { findEntry } from '../../objects/kinds.ts'
import type { Spec } from '../../objects/spec-options.ts'
import { printChanges } from '../resources/spec-commands.ts'

type Invocation = { command: Command; context: CliContext }

type FolderFlags = { name?: string; path?: string; ref?: string; secret?: string }

export function addSkillFolders(group: Command, context: CliContext): void {
  group
    .command('add <folder>')
    .description(
      `make a skill from a folder with a ${skillTextName}, here or in a repository (its address), or bring it up to date`,
    )
    .option('--name <name>', `its name (default: the one in ${skillTextName}, or of the folder)`)
    .option('--path <folder>', 'the folder in the repository (default: the repository is the skill)')
    .option('--ref <revision>', 'branch, tag or commit of the repository (default: its default branch)')
    .option('--secret <name>', 'Secret with the credentials of the repository')
    .action((folder: string, flags: FolderFlags, command: Command) => add(folder, flags, { command, context }))
  group
    .command('refresh <name>')
    .description('read a skill anew from its repository')
    .action(callService(context, (call, name: string) => refresh(name, undefined, call)))
  group.command('show <name>').description('print the Markdown of a skill').action(callService(context, show))
}

const isAddress = (text: string) => /^[a-z+]+:\/\//i.test(text) || /^git@[^/]+:/.test(text)

async function add(folder: string, flags: FolderFlags, { command, context }: Invocation): Promise<void> {
  if (isAddress(folder)) return addRepository(folder, flags, await openCall(command, context))
  const { name: wanted, ...others } = flags
  const [option] = Object.keys(others)
  if (option !== undefined) throw new SvcError('InvalidRequest', `--${option} is for the address of a repository`)
  return addFolder(folder, wanted, { command, context })
}

/** The service reads it. */
function addRepository(codehost: string, { name, path, ref, secret }: FolderFlags, call: ServiceCall): Promise<void> {
  const last = basename(path ?? codehost.replace(/[?#][\s\S]*$/, '')).replace(/\.git$/, '')
  const secretRef = secret === undefined ? undefined : { name: secret }
  return refresh(name ?? last, dropUndefined({ codehost, path, ref, secretRef }), call)
}

async function refresh(name: string, source: SkillSource | undefined, { client, context, query }: ServiceCall) {
  const skill = await client.call(refreshSkill, { params: { name }, query, body: dropUndefined({ source }) })
  const { content, source: read } = skill.spec
  const files = 1 + Object.keys(content?.files ?? {}).length
  context.terminal.note(
    `skill ${name} is that of commit ${read?.commit?.slice(0, 12)}, with ${files} ${files === 1 ? 'file' : 'files'}`,
  )
}

async function addFolder(folder: string, wanted: string | undefined, { command, context }: Invocation): Promise<void> {
  const found = await readFolder(resolve(folder))
  const name = wanted ?? found.name ?? basename(resolve(folder))
  if (found.leftOut.length > 0) context.terminal.note(`left out: ${found.leftOut.join(', ')}`)
  const { client, query } = await openCall(command, context)
  try {
    await client.call(createSkill, { body: { name, ...query, spec: found.spec } })
    context.terminal.note(`skill ${name} created`)
  } catch (error) {
    if (!isSvcError(error, 'AlreadyExists')) throw error
    const change = (before: Spec) => ({ ...before, ...found.spec })
    printChanges(`skill ${name}`, await changeObject(client, findEntry('skill'), { name, query }, change), context)
  }
}

async function show({ client, context, query }: ServiceCall, name: string): Promise<void> {
  const answer = await client.open(getSkillContent, { params: { name }, query })
  context.terminal.print((await answer.text()).replace(/\n$/, ''))
}

/** InvalidRequest when it is no skill, or has files that are not text. */
async function readFolder(folder: string): Promise<SkillFolder & { leftOut: string[] }> {
  const { files, leftOut } = await listFolder(folder)
  const texts = await Promise.all(
    files.map(async ({ path }) => [path, readSkillText(path, await readFile(join(folder, path)))] as const),
  )
  return { ...(await readSkillFolder(folder, Object.fromEntries(texts))), leftOut }
}
