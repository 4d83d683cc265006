// What an agent program says about its version, in a sandbox like the one that it would work in: a program that does not start
// there, hangs or floods is found out before an attempt.
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { readVersion } from '../../agents/version.ts'
import { messageOf } from '../../errors.ts'
import { removeTree } from '../../lib/tree-removal.ts'
import type { Programs, RunningProgram } from '../../ports/workspaces/sandbox.ts'
import { homeEnvironment } from './agent-home.ts'
import { quoteError } from './agent-verdict.ts'

/** As started, without arguments. */
export type AskedProgram = { argv: string[]; path: string; folders?: string[] }

/** `problem`: the end of a sentence about the program. */
export type VersionAnswer = { version: string } | { problem: string }

export type VersionOptions = { programs: Pick<Programs, 'start'>; deadlineMs?: number }

/** A machine that is busy with tasks starts programs slowly. */
const usualDeadlineMs = 60_000
/** Of each stream; more is read and forgotten. */
const maxLength = 16_384
const maxQuote = 200

/** Never rejects. */
export async function askVersion(asked: AskedProgram, options: VersionOptions): Promise<VersionAnswer> {
  const home = await mkdtemp(join(tmpdir(), 'svc-version-'))
  try {
    return await ask(asked, home, options)
  } catch (error) {
    return { problem: `does not start: ${messageOf(error)}` }
  } finally {
    await removeTree(home)
  }
}

async function ask(
  { argv, path, folders = [] }: AskedProgram,
  home: string,
  { programs, deadlineMs = usualDeadlineMs }: VersionOptions,
): Promise<VersionAnswer> {
  const env = { ...homeEnvironment(home), TMPDIR: home, PATH: path }
  const running = await programs.start({ argv: [...argv, '--version'], folder: home, home, env, folders })
  const [output, errors] = [keepHead(running.stdout), keepHead(running.stderr)]
  running.stdin?.on('error', () => undefined).end()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    void end(running)
  }, deadlineMs)
  const { code, startError } = await running.exited.finally(() => clearTimeout(timer))
  await end(running)
  if (isLate) return { problem: `does not answer to --version within ${deadlineMs / 1000} s` }
  if (startError !== undefined) return { problem: `does not start: ${startError}` }
  const version = readVersion(output())
  if (code === 0 && version !== undefined) return { version }
  const words = quoteError(errors() || output()).slice(0, maxQuote)
  if (code !== 0) return { problem: `does not start: --version ends with exit code ${code}${words && `: ${words}`}` }
  return { problem: `does not say its version: it printed ${JSON.stringify(output().trim().slice(0, maxQuote))}` }
}

/** What it left behind may hold its pipes. */
async function end(program: RunningProgram): Promise<void> {
  await program.kill()
  for (const stream of [program.stdout, program.stderr]) stream.destroy()
}

function keepHead(stream: Readable): () => string {
  let head = ''
  stream.setEncoding('utf8').on('data', (text: string) => {
    head = (head + text).slice(0, maxLength)
  })
  return () => head
}
