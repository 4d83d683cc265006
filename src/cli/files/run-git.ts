// Git of the person's own checkout.
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { SvcError } from '../../errors.ts'

/** Its output. InvalidRequest with the reason and git's own words when it fails. */
export async function runUserGit(args: string[], input: string, why: string): Promise<string> {
  const child = spawn('git', args, { stdio: ['pipe', 'pipe', 'pipe'] })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', () => reject(new SvcError('InvalidRequest', 'git is not installed here')))
    child.once('close', resolve)
  })
  // It may end before it has read everything; its exit code says so.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  const [code, output, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  if (code === 0) return output
  throw new SvcError('InvalidRequest', `${why}: ${errors.trim()}`)
}
