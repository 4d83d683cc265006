// What the commands need: the terminal, and ways to find, start and stop a service. Composed in src/compose.
import type { Client } from '../client/client.ts'
import type { ContextStore, ServiceTarget } from '../client/contexts.ts'
import type { LoginStore } from '../client/login/stored-logins.ts'
import type {
  BackupNote,
  ConnectOptions,
  DoctorFinding,
  InstalledService,
  NamedText,
  OpenPrompt,
  ServiceFile,
  ServiceManager,
  ServiceOptions,
} from '../client/machine.ts'
import type { Changes } from '../rules/scans/slice-selection.ts'
import type { SlicedTree } from '../rules/scans/slices.ts'
import type { OutputFormat } from './output/output.ts'
import type { Terminal } from './output/terminal.ts'

export type GlobalOptions = ServiceOptions & {
  /** A list goes over all namespaces. */
  allNamespaces?: boolean
  output: OutputFormat
  /** Tables show all their columns. */
  wide?: boolean
  csv?: boolean
}

/** What a command runs with. */
export type CliCall = { options: GlobalOptions; context: CliContext }

/** A setting as help shows it. */
export type SettingHelp = {
  name: string
  group: string
  flag: string
  environment: string
  help: string
  placeholder: string
  /** As it would be typed; empty when there is none. */
  default: string
  values: readonly string[]
  /** Whether it has several values. */
  isList: boolean
  example?: string
}
export type SettingValue = { name: string; value: string; source: string }

/** What the caller's own environment says about models; the service may have been started with another one. */
export type ModelHints = { defaultModel: string | undefined; keys: string[] }

/** How a folder is read as a tree. */
export type TreeOptions = {
  /** Branch, tag or commit. Absent: HEAD. */
  ref?: string | undefined
  /** The files as they lie in the folder, committed or not. */
  asItLies?: boolean | undefined
  /** Only this folder of it. */
  subPath?: string | undefined
  /** An earlier commit that changes are looked for since. */
  since?: string | undefined
  /** Part of the ids of slices. */
  scanName: string
}

/** A tree that was cut into slices. */
export type OpenedTree = {
  commit?: string
  sliced: SlicedTree
  /** Only when they were asked for. */
  changes?: Changes
  /** Contents by path; of those that are there. */
  read(paths: readonly string[]): Promise<Map<string, Uint8Array>>
}

export interface CliContext {
  terminal: Terminal
  /** For files that are printed unchanged. */
  standardOutput: NodeJS.WritableStream
  now(): Date
  version: string
  /** Text of a file, of standard input for `-`, or of each manifest in a folder. InvalidRequest when it cannot be read. */
  readTexts(path: string): Promise<NamedText[]>
  /** A file, or standard input for `-`, as it is. InvalidRequest when it cannot be read. */
  readBytes(path: string): Promise<Buffer>
  /** All of standard input; undefined when a person would have to type it. */
  readInput(): Promise<string | undefined>
  /** Undefined when nobody can type: standard input or output is not a terminal. */
  openPrompt: OpenPrompt | undefined
  settingHelp(): SettingHelp[]
  /**
   * The named service, else the one that holds the data folder, which is started in the background when none runs.
   * Unavailable, with what to type, where it is not to be started.
   */
  connect(options: GlobalOptions, how?: ConnectOptions): Promise<Client>
  /** Which service is meant. */
  target(options: GlobalOptions): ServiceTarget
  /** The token that would be used there; undefined when there is none. */
  findToken(options: GlobalOptions): Promise<string | undefined>
  contexts(options: GlobalOptions): ContextStore
  /** The address of the service that is named. InvalidRequest when none is. */
  serverAddress(options: GlobalOptions): string
  /** The tokens of `svc login`. */
  logins(options: GlobalOptions): LoginStore
  /** Serves in the foreground until a signal. */
  serve(options: GlobalOptions): Promise<void>
  /** Of the manager, or that of this system. Unavailable where neither is there. */
  describeService(options: GlobalOptions, manager?: ServiceManager): Promise<ServiceFile>
  /** Unavailable where the manager does not answer; Conflict while a service runs in a terminal. */
  installService(options: GlobalOptions): Promise<InstalledService>
  /** False when none is installed. */
  uninstallService(): Promise<boolean>
  /** Ends the service that holds the data folder; false when none runs. */
  stop(options: GlobalOptions): Promise<boolean>
  describeConfig(options: GlobalOptions): SettingValue[]
  /** `SVC_*` variables that are not settings, most likely misspelled. */
  listUnknownVariables(): string[]
  diagnose(options: GlobalOptions): Promise<DoctorFinding[]>
  /** Copies the store of the data folder into a new folder, whether or not its service is running. */
  backup(options: GlobalOptions, folder: string, flags: { withKey: boolean }): Promise<BackupNote>
  /** Reads the objects and records of a service on a cluster into a new folder, whether or not it is running. */
  backupCluster(options: GlobalOptions, folder: string, flags: { withSecrets: boolean }): Promise<BackupNote>
  /** Conflict where anything of the service is there already, or a replica leads. */
  restoreCluster(options: GlobalOptions, folder: string): Promise<BackupNote>
  /** Puts a backup into the empty data folder; `aside` is where `replace` moved what was there. */
  restore(
    options: GlobalOptions,
    folder: string,
    flags: { replace: boolean },
  ): Promise<{ note: BackupNote; aside: string | undefined }>
  /** Re-encrypts all secrets under a new key; the service must not run. */
  rotateSecretKey(options: GlobalOptions): Promise<number>
  readModelHints(options: GlobalOptions): ModelHints
  /** Cuts a folder, or a commit of a repository on this machine. InvalidRequest when it cannot be read. */
  sliceTree(folder: string, options: TreeOptions): Promise<OpenedTree>
  /** The environment variable's value, for `--from-env`. */
  readEnvironment(name: string): string | undefined
  /** The text as a person left it in their editor. InvalidRequest when there is no editor, or it fails. */
  editText(text: string, name: string): Promise<string>
  /** Shows a text that is safe for a terminal page by page; false where nothing does that. */
  page(text: string): Promise<boolean>
  /** Puts the dashboard together from its sources; undefined where there are none. */
  buildDashboard: (() => Promise<void>) | undefined
  /** Where a shell would find it; undefined: nowhere. */
  findProgram(command: string): Promise<string | undefined>
  /** Hands it the terminal; resolves to its exit code. */
  runProgram(argv: string[], variables: { set: Record<string, string>; removed: readonly string[] }): Promise<number>
  /** Writes a file for another program beside the settings of this one; resolves to its path. */
  keepFile(options: GlobalOptions, name: string, text: string): Promise<string>
  /** False when no browser starts from here. */
  openBrowser(url: string): Promise<boolean>
  /**
   * While `work` runs, Ctrl-C aborts its signal, and undefined is returned; a second one ends the program. At any other time
   * Ctrl-C ends the program at once.
   */
  interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | undefined>
}
