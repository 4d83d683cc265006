// Files for a program that starts.
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const modes = { own: 0o600, 'read-only': 0o400 } as const

/** `files`: text by path below the folder; each replaces what was there. */
export async function layFiles(folder: string, files: Record<string, string>, mode: keyof typeof modes): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, name)
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await rm(file, { force: true })
    await writeFile(file, text, { mode: modes[mode] })
  }
}
