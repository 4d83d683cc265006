// Composes the command line; what only some commands need is loaded when they run.
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import type { CliContext, GlobalOptions, SettingHelp, SettingValue } from '../cli/context.ts'
import { runCommandLine } from '../cli/program.ts'
import { createTerminal } from '../cli/terminal.ts'
import { readEnvironment } from '../config/environment.ts'
import { environmentNameOf, flagOf, type Setting, settings } from '../config/settings.ts'
import { SvcError } from '../errors.ts'
import { configOf, connect, connectOrStart, isAlive } from './connect.ts'
import { version } from './program-files.ts'
import { readServiceNote } from './service-file.ts'

/** Runs one command line; resolves to the exit code. */
export async function main(argv: string[]): Promise<number> {
  const interrupt = new AbortController()
  const onInterrupt = () => {
    interrupt.abort()
    process.exit(130)
  }
  process.once('SIGINT', onInterrupt)
  const context = createContext(interrupt.signal)
  // A service in the foreground drains on Ctrl-C instead.
  const serve = (options: GlobalOptions) => {
    process.removeListener('SIGINT', onInterrupt)
    return context.serve(options)
  }
  return runCommandLine(argv, { ...context, serve })
}

function createContext(signal: AbortSignal): CliContext {
  return {
    terminal: createTerminal(process),
    now: () => new Date(),
    version,
    signal,
    settingHelp: Object.entries(settings).map(describeSetting),
    readText: (path) => readNamedText(path),
    readEnvironment: (name) => readEnvironment()[name],
    connect,
    connectOrStart,
    stop,
    describeConfig,
    serve: async (options) => (await import('./server.ts')).serve(configOf(options)),
    diagnose: async (options) => (await import('./doctor.ts')).diagnose(configOf(options)),
    rotateSecretKey: async (options) => (await import('./embedded.ts')).rotateSecretKey(configOf(options)),
  }
}

async function readNamedText(path: string): Promise<string> {
  if (path === '-') return text(process.stdin)
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    throw new SvcError('InvalidRequest', `${path} can not be read (${code})`, { cause: error })
  }
}

function describeSetting([name, setting]: [string, Setting]): SettingHelp {
  const standsAlone = setting.schema.safeParse(true).success && !setting.schema.safeParse('7').success
  const placeholder = standsAlone ? '' : `<${setting.placeholder ?? 'value'}>`
  return { name, flag: `--${flagOf(name)}`, environment: environmentNameOf(name), help: setting.help, placeholder }
}

function describeConfig(options: GlobalOptions): SettingValue[] {
  const config = configOf(options)
  return Object.entries(settings as Record<string, Setting>).map(([name, setting]) => {
    const value = (config as unknown as Record<string, unknown>)[name] ?? derivedValue(name, config.paths)
    const shown = Array.isArray(value) ? value.join(',') : String(value ?? '')
    const source = config.sources[name as keyof typeof config.sources]
    return { name, value: setting.secret && shown !== '' ? '(hidden)' : shown, source }
  })
}

/** Folders that stand for an absent setting. */
function derivedValue(name: string, paths: object): unknown {
  return (paths as Record<string, unknown>)[name]
}

const stopTimeoutMs = 30_000

async function stop(options: GlobalOptions): Promise<boolean> {
  const note = readServiceNote(configOf(options).paths.serviceFile)
  if (!note || !(await isAlive(note.url))) return false
  process.kill(note.pid, 'SIGTERM')
  const deadline = Date.now() + stopTimeoutMs
  while (isRunning(note.pid)) {
    if (Date.now() > deadline) throw new SvcError('Unavailable', `the service (pid ${note.pid}) does not stop`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return true
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
