// Lets a person change a text in their own editor.
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readEnvironment } from '../config/environment.ts'
import { SvcError } from '../errors.ts'
import { removeTree } from '../lib/tree-removal.ts'

/** Run by a shell, because `$EDITOR` may contain arguments. */
function runEditor(editor: string, file: string): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' })
    child.once('error', reject)
    child.once('exit', resolve)
  })
}

/** What is taken where nobody named one, and what `npx` names then. */
const usualEditor = 'vi'

/** Resolves to the saved text. InvalidRequest when there is no editor or it fails, or no terminal for it. */
export async function editText(text: string, name: string): Promise<string> {
  const { VISUAL, EDITOR } = readEnvironment()
  const editor = VISUAL ?? EDITOR ?? usualEditor
  if (editor === usualEditor && !process.stdin.isTTY)
    throw new SvcError('InvalidRequest', `there is no terminal for ${editor}; EDITOR names an editor that needs none`)
  const folder = await mkdtemp(join(tmpdir(), 'svc-edit-'))
  try {
    const file = join(folder, name)
    await writeFile(file, text, { mode: 0o600 })
    const code = await runEditor(editor, file)
    if (code === 0) return await readFile(file, 'utf8')
    throw new SvcError('InvalidRequest', `the editor (${editor}) ended with ${code}; EDITOR names another`)
  } finally {
    await removeTree(folder)
  }
}
