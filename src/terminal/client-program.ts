// Hands the terminal to another program, and gives back how it ended.
import { spawn } from 'node:child_process'
import { constants as files } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { constants } from 'node:os'
import { delimiter, join } from 'node:path'
import { readEnvironment } from '../config/environment.ts'
import { messageOf, SvcError } from '../errors.ts'

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, files.X_OK)
    return (await stat(file)).isFile()
  } catch {
    return false
  }
}

/** Where the shell of this person would find it. */
export async function findProgram(command: string): Promise<string | undefined> {
  const { PATH = '' } = readEnvironment()
  for (const folder of PATH.split(delimiter).filter((folder) => folder !== '')) {
    const file = join(folder, command)
    if (await isProgram(file)) return file
  }
  return undefined
}

export type ProgramVariables = { set: Record<string, string>; removed: readonly string[] }

/** The terminal sends its own signals to both; these are for this process alone. */
const passedOn = ['SIGTERM', 'SIGHUP', 'SIGQUIT'] as const

/** Resolves to its exit code; 128 and the number of the signal that ended it. InvalidRequest when it cannot be started. */
export async function runProgram([program = '', ...args]: string[], variables: ProgramVariables): Promise<number> {
  const inherited = Object.entries(readEnvironment()).filter(([name]) => !variables.removed.includes(name))
  const child = spawn(program, args, { stdio: 'inherit', env: { ...Object.fromEntries(inherited), ...variables.set } })
  const ignore = () => undefined
  const pass = (signal: NodeJS.Signals) => void child.kill(signal)
  process.on('SIGINT', ignore)
  for (const signal of passedOn) process.on(signal, pass)
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', (error) =>
        reject(new SvcError('InvalidRequest', `${program} cannot be started: ${messageOf(error)}`)),
      )
      child.once('exit', (code, signal) => resolve(code ?? 128 + (constants.signals[signal ?? 'SIGKILL'] ?? 0)))
    })
  } finally {
    process.off('SIGINT', ignore)
    for (const signal of passedOn) process.off(signal, pass)
  }
}
