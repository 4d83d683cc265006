// What the commands are given: the terminal, and ways to find, start and stop a service. Composed in src/compose.
import type { Client } from '../client/client.ts'
import type { Terminal } from './terminal.ts'

export type GlobalOptions = {
  server?: string
  token?: string
  namespace?: string
  output: 'table' | 'json' | 'yaml'
  /** Settings given as flags (`--data-dir`), by setting name. */
  settings: Record<string, unknown>
  /** `--config`. */
  config?: string
}

export type SettingHelp = { name: string; flag: string; environment: string; help: string; placeholder: string }
export type SettingValue = { name: string; value: string; source: string }

/** One line of `svc doctor`. */
export type Finding = { what: string; state: 'ok' | 'warning' | 'missing'; detail: string; fix?: string }

export type StartedService = { url: string; pid: number; logFile: string }

export interface CliContext {
  terminal: Terminal
  now(): Date
  version: string
  /** Text of a file, or of standard input for `-`. */
  readText(path: string): Promise<string>
  settingHelp: SettingHelp[]
  /** The named service, else the one that holds the data folder. Unavailable, with what to type, when there is none. */
  connect(options: GlobalOptions): Promise<Client>
  /** The same, but starts a service in the background when none runs. */
  connectOrStart(options: GlobalOptions): Promise<{ client: Client; started?: StartedService }>
  /** Serves in the foreground until a signal. */
  serve(options: GlobalOptions): Promise<void>
  /** Ends the service that holds the data folder; false when none runs. */
  stop(options: GlobalOptions): Promise<boolean>
  describeConfig(options: GlobalOptions): SettingValue[]
  diagnose(options: GlobalOptions): Promise<Finding[]>
  /** Re-encrypts all secrets under a new key; the service must not run. */
  rotateSecretKey(options: GlobalOptions): Promise<number>
  /** The environment variable's value, for `--from-env`. */
  readEnvironment(name: string): string | undefined
  /** Aborts on Ctrl-C. */
  signal: AbortSignal
}
