// What lies in the home of an agent program: its files, and the skills of a task for programs that read them with tools of
// their own.
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import type { AssignedSkill } from '../../contract/api/tasks/assignment.ts'
import { skillTextName } from '../../contract/kinds/tools/skill.ts'
import { SvcError } from '../../errors.ts'
import { describeSkills } from '../../tools/skills/skills.ts'

const modes = { own: 0o600, 'read-only': 0o400 } as const

/** HOME, what follows from it, and that nobody sits at a terminal. */
export function homeEnvironment(home: string): Record<string, string> {
  return {
    HOME: home,
    TMPDIR: join(home, 'tmp'),
    XDG_CACHE_HOME: join(home, '.cache'),
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_DATA_HOME: join(home, '.local', 'share'),
    XDG_STATE_HOME: join(home, '.local', 'state'),
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    NO_COLOR: '1',
  }
}

/** `files`: text by path below the folder; each replaces what was there. */
export async function writeFiles(
  folder: string,
  files: Record<string, string>,
  mode: keyof typeof modes,
): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, name)
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await rm(file, { force: true })
    await writeFile(file, text, { mode: modes[mode] })
  }
}

export type WrittenSkills = {
  /** For the system prompt; empty when there are none. */
  listed: string
  /** Absolute paths of what the program reads. */
  folders: string[]
}

/** They lie in the program's home, since what lies in the workspace would be part of its diff. */
export async function writeSkills(skills: readonly AssignedSkill[], home: string): Promise<WrittenSkills> {
  if (skills.length === 0) return { listed: '', folders: [] }
  const folder = join(home, 'skills')
  const files = skills.flatMap((skill) => listFiles(skill, folder))
  await writeFiles(folder, Object.fromEntries(files), 'read-only')
  return {
    listed: describeSkills(skills, `in ${join(folder, 'NAME', skillTextName)}, with NAME as listed here`),
    folders: [folder],
  }
}

/** Whoever wrote them may not choose where they lie: some programs obey files with certain names. */
function listFiles({ name, inline, files = {} }: AssignedSkill, folder: string): [string, string][] {
  const own = join(folder, name)
  const isSafe = (path: string) => join(own, path).startsWith(own + sep) && !path.includes('\0')
  const strange = /^[a-z0-9][a-z0-9.-]*$/.test(name) ? Object.keys(files).find((path) => !isSafe(path)) : name
  if (strange !== undefined)
    throw new SvcError('InvalidRequest', `The skill "${name}" cannot be read: "${strange}" leads out of its folder.`)
  return Object.entries({ ...files, [skillTextName]: inline }).map(([path, text]) => [join(name, path), text])
}
