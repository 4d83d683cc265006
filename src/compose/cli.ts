// Composes the command line; what only some commands need is loaded when they run.
import { existsSync, fstatSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { CliContext, GlobalOptions, SettingValue } from '../cli/context.ts'
import { announceService, announceShellKey, announceVersion } from '../cli/output/announce.ts'
import { createTerminal, type Terminal } from '../cli/output/terminal.ts'
import { runCommandLine } from '../cli/program.ts'
import type { Client } from '../client/client.ts'
import { setProgramWords } from '../client/command-hint.ts'
import type { ConnectOptions } from '../client/machine.ts'
import { readEnvironment } from '../config/environment.ts'
import { listUnknownVariables } from '../config/load.ts'
import { describeSettings } from '../config/settings.ts'
import { describeStates } from '../config/values.ts'
import { findCommandName } from '../launch/command-name.ts'
import {
  configOf,
  findToken,
  openContexts,
  openLogins,
  reach,
  resolveTarget,
  serverAddress,
} from '../launch/connect.ts'
import { endLocalService, findLocalService } from '../launch/local-service.ts'
import { dashboardFolder, launcherPath, packageRoot, version } from '../launch/program-files.ts'
import { readStarter, startedByVariable, writePrivateFile } from '../launch/service-file.ts'
import { readBytes, readStandardInput, readTexts } from '../terminal/input.ts'
import { handleInterrupts, type Interrupts } from '../terminal/interrupts.ts'
import { createLinePrompt } from '../terminal/line-prompt.ts'

/** Runs one command line; resolves to the exit code. */
export async function main(argv: string[]): Promise<number> {
  endWithReader()
  setProgramWords(findCommandName({ env: readEnvironment(), launcher: launcherPath, folder: process.cwd() }))
  return runCommandLine(argv, createContext(handleInterrupts(() => new Date())))
}

/** What a shell reports for a program whose reader has closed (128 + SIGPIPE). */
const brokenPipeCode = 141

/** `svc task list | head -1`: the reader has what it wanted. */
function endWithReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(brokenPipeCode)
      throw error
    })
  }
}

/** As in `svc run … > log 2>&1`. */
function isOneFile(): boolean {
  try {
    const [out, err] = [fstatSync(1), fstatSync(2)]
    return out.dev === err.dev && out.ino === err.ino && !out.isCharacterDevice()
  } catch {
    return false
  }
}

function createContext(interrupts: Interrupts): CliContext {
  const isDumb = readEnvironment().TERM === 'dumb'
  const terminal = createTerminal(process, { isDumb, isOneFile: isOneFile() })
  return {
    terminal,
    standardOutput: process.stdout,
    now: () => new Date(),
    version,
    interruptible: interrupts.interruptible,
    settingHelp: describeSettings,
    readTexts,
    readBytes,
    readInput: readStandardInput,
    openPrompt: createLinePrompt(process, { isDumb }),
    readEnvironment: (name) => readEnvironment()[name],
    readModelHints,
    editText: async (text, name) => (await import('../terminal/editor.ts')).editText(text, name),
    openBrowser: async (url) =>
      (await import('../terminal/browser.ts')).openBrowser(url, { env: readEnvironment(), platform: process.platform }),
    findProgram: async (command) => (await import('../terminal/client-program.ts')).findProgram(command),
    async runProgram(...started) {
      // Ctrl-C is for the program.
      interrupts.release()
      return (await import('../terminal/client-program.ts')).runProgram(...started)
    },
    async keepFile(options, name, text) {
      const file = join(configOf(options).paths.configDir, 'clients', name)
      writePrivateFile(file, text)
      return file
    },
    page: async (text) => (await import('../terminal/pager.ts')).showPaged(text, readEnvironment()),
    buildDashboard: existsSync(dashboardScript) ? buildDashboard : undefined,
    connect: (options, how) => connect(options, terminal, how),
    target: resolveTarget,
    findToken,
    contexts: openContexts,
    serverAddress,
    logins: openLogins,
    stop,
    describeConfig,
    listUnknownVariables: () => listUnknownVariables(readEnvironment()),
    async serve(options) {
      // A foreground service drains on Ctrl-C instead.
      interrupts.release()
      await (await import('./server.ts')).serve(configOf(options), readStarter(readEnvironment()[startedByVariable]))
    },
    describeService: async (...args) => (await installation()).describeService(...args),
    installService: async (options) => (await installation()).installService(options),
    uninstallService: async () => (await installation()).uninstallService(),
    diagnose: async (options) => {
      // Without a service the doctor looks by itself.
      const reached = await reach(options, { start: false }).catch(() => undefined)
      return (await import('./doctor.ts')).diagnoseMachine(configOf(options), { client: reached?.client })
    },
    backup: async (options, folder, flags) =>
      (await import('../upkeep/backup.ts')).takeBackup(configOf(options), folder, flags),
    restore,
    backupCluster: async (options, folder, flags) =>
      (await import('./cluster-backup.ts')).backupCluster(configOf(options), folder, flags),
    restoreCluster: async (options, folder) =>
      (await import('./cluster-backup.ts')).restoreCluster(configOf(options), folder),
    sliceTree: async (...args) => (await import('./slice-tree.ts')).sliceTree(...args),
    rotateSecretKey: async (options) => (await import('./embedded.ts')).rotateSecretKey(configOf(options)),
  }
}

/** Only a checkout has it, with the packages that it needs. */
const dashboardScript = join(packageRoot, 'scripts', 'build-dashboard.ts')

async function buildDashboard(): Promise<void> {
  const script = (await import(pathToFileURL(dashboardScript).href)) as { buildDashboard(to: string): Promise<unknown> }
  await script.buildDashboard(dashboardFolder)
}

const installation = () => import('../launch/install-service.ts')

async function connect(options: GlobalOptions, terminal: Terminal, how: ConnectOptions = {}): Promise<Client> {
  const { client, started, note } = await reach(options, how)
  if (how.quiet) return client
  if (started !== undefined) {
    announceService(started, terminal)
    await announceShellKey(client, readModelHints(options).keys, terminal)
  }
  if (note?.version !== undefined && note.version !== version) announceVersion(note.version, version, terminal)
  return client
}

function readModelHints(options: GlobalOptions) {
  const { defaultModel, vendorKeys } = configOf(options)
  return { defaultModel, keys: vendorKeys.map(({ name }) => name) }
}

function describeConfig(options: GlobalOptions): SettingValue[] {
  return describeStates(configOf(options)).map(({ name, value, source }) => ({ name, value, source }))
}

async function restore(options: GlobalOptions, folder: string, { replace }: { replace: boolean }) {
  const { putAside, requireBackup, restoreBackup } = await import('../upkeep/backup.ts')
  const config = configOf(options)
  if (!replace) return { note: await restoreBackup(config, folder), aside: undefined }
  // Before anything is stopped and put aside for it.
  await requireBackup(folder)
  await stop(options)
  const aside = await putAside(config)
  return { note: await restoreBackup(config, folder), aside }
}

async function stop(options: GlobalOptions): Promise<boolean> {
  const { paths } = configOf(options)
  const note = await findLocalService(paths)
  if (note !== undefined) await endLocalService(paths, note)
  return note !== undefined
}
