// What the commands are given: the terminal, and ways to find, start and stop a service. Composed in src/compose.
import type { Client } from '../client/client.ts'
import type { KeptLogins } from './login/kept-logins.ts'
import type { OutputFormat } from './output.ts'
import type { Terminal } from './terminal.ts'

export type GlobalOptions = {
  server?: string
  token?: string
  namespace?: string
  /** A list goes over all namespaces. */
  allNamespaces?: boolean
  output: OutputFormat
  /** Tables show all their columns. */
  wide?: boolean
  /** Settings given as flags (`--data-dir`), by setting name. */
  settings: Record<string, unknown>
  /** `--config`. */
  config?: string
}

/** A setting as help shows it. */
export type SettingHelp = {
  name: string
  group: string
  flag: string
  environment: string
  help: string
  placeholder: string
  /** As it would be typed; empty where there is none. */
  default: string
  values: readonly string[]
  example?: string
}
export type SettingValue = { name: string; value: string; source: string }

/** One line of `svc doctor`. */
export type Finding = { what: string; state: 'ok' | 'warning' | 'missing'; detail: string; fix?: string }

export type StartedService = { url: string; pid: number; logFile: string; idleExit: string }

export type NamedText = { name: string; text: string }

/** What the caller's own environment says about models; the service may have been started with another. */
export type ModelHints = { defaultModel: string | undefined; keys: string[] }

/** What a person did at a prompt: a message, Ctrl-C, or Ctrl-D. */
export type Typed = { line: string } | 'interrupt' | 'end'

/** Asks for lines; until it is closed, what is typed between two questions is kept for the next one. */
export type LinePrompt = {
  /** A message that a person types or pastes, of one line or several, with those before it on the arrow keys. */
  ask(question: string, history: readonly string[]): Promise<Typed>
  close(): void
}
export type OpenPrompt = () => LinePrompt

/** What a backup says of itself. */
export type BackupNote = {
  /** ISO 8601. */
  takenAt: string
  /** Results, artifacts and checkpoints that are files of their own. */
  bodies: number
  secrets: number
  /** Whether the key that opens the secrets is with it. */
  hasKey: boolean
}

export interface CliContext {
  terminal: Terminal
  /** For files that are asked for as they are. */
  standardOutput: NodeJS.WritableStream
  now(): Date
  version: string
  /** Text of a file, of standard input for `-`, or of each manifest in a folder. InvalidRequest when it cannot be read. */
  readTexts(path: string): Promise<NamedText[]>
  /** All of standard input; undefined where a person would have to type it. */
  readInput(): Promise<string | undefined>
  /** Undefined where nobody can type: standard input or output is no terminal. */
  openPrompt: OpenPrompt | undefined
  settingHelp(): SettingHelp[]
  /** The named service, else the one that holds the data folder. Unavailable, with what to type, when there is none. */
  connect(options: GlobalOptions): Promise<Client>
  /** The same, but starts a service in the background when none runs. */
  connectOrStart(options: GlobalOptions): Promise<{ client: Client; started?: StartedService }>
  /** The address of the service that is named. InvalidRequest when none is. */
  serverAddress(options: GlobalOptions): string
  /** The tokens of `svc login`. */
  logins(options: GlobalOptions): KeptLogins
  /** Serves in the foreground until a signal. */
  serve(options: GlobalOptions): Promise<void>
  /** Ends the service that holds the data folder; false when none runs. */
  stop(options: GlobalOptions): Promise<boolean>
  describeConfig(options: GlobalOptions): SettingValue[]
  /** `SVC_*` variables that are no setting: misspelt, most likely. */
  listUnknownVariables(): string[]
  diagnose(options: GlobalOptions): Promise<Finding[]>
  /** Copies the store of the data folder into a new folder, while its service runs or not. */
  backup(options: GlobalOptions, folder: string, given: { withKey: boolean }): Promise<BackupNote>
  /** Puts a backup into the empty data folder; `aside` is where `replace` moved what was there. */
  restore(
    options: GlobalOptions,
    folder: string,
    given: { replace: boolean },
  ): Promise<{ note: BackupNote; aside: string | undefined }>
  /** Re-encrypts all secrets under a new key; the service must not run. */
  rotateSecretKey(options: GlobalOptions): Promise<number>
  readModelHints(options: GlobalOptions): ModelHints
  /** The environment variable's value, for `--from-env`. */
  readEnvironment(name: string): string | undefined
  /** The text as a person left it in their editor. InvalidRequest when there is none, or when it fails. */
  editText(text: string, name: string): Promise<string>
  /**
   * While `work` runs, Ctrl-C aborts its signal and undefined is given; a second one ends the program. Anywhere else
   * Ctrl-C ends the program at once.
   */
  interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | undefined>
}
