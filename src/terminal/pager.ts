// Shows a long text page by page, as git does.
import { spawn } from 'node:child_process'
import type { Environment } from '../config/environment.ts'

/** What git gives less: ends on a short text, keeps colours, leaves the text on the screen. */
const usualOptions = 'FRX'

/** False where no pager starts: PAGER is empty or `cat`, or names none that is there. */
export function showPaged(text: string, env: Environment): Promise<boolean> {
  const pager = env.PAGER ?? 'less'
  if (pager.trim() === '' || pager.trim() === 'cat') return Promise.resolve(false)
  return new Promise((resolve) => {
    // Run by a shell, because it may have arguments.
    const child = spawn('/bin/sh', ['-c', pager], {
      stdio: ['pipe', 'inherit', 'inherit'],
      env: { ...env, LESS: env.LESS ?? usualOptions },
    })
    const notFound = 127
    child.once('error', () => resolve(false))
    child.once('exit', (code) => resolve(code !== notFound))
    // Whoever leaves the pager early has seen enough.
    child.stdin.on('error', () => {})
    child.stdin.end(text)
  })
}
