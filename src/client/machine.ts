// What this machine does for a command: it runs a service, keeps it up and backs it up, and lets a person type.

/** What a command line says of the service that it means. */
export type ServiceOptions = {
  server?: string
  token?: string
  /** `--context`. */
  context?: string
  namespace?: string
  /** Settings given as flags (`--data-dir`), by setting name. */
  settings: Record<string, unknown>
  /** `--config`. */
  config?: string
}

/** One line of `svc doctor`. */
export type DoctorFinding = { what: string; state: 'ok' | 'warning' | 'missing'; detail: string; fix?: string }

export type StartedService = {
  url: string
  pid: number
  logFile: string
  idleExit: string
  /** That of the settings; 0: any. */
  wantedPort: number
}

/** What starts programs at login. */
export const serviceManagers = ['systemd', 'launchd'] as const
export type ServiceManager = (typeof serviceManagers)[number]

/** The file that makes a service start at login. */
export type ServiceFile = {
  manager: ServiceManager
  path: string
  text: string
  /** Variables of this environment that the service does not have: keys and tokens stand in no such file. */
  leftOut: string[]
  /** Where its log is: a file for launchd, a command for systemd. */
  log: string
}
export type InstalledService = ServiceFile & { isNew: boolean }

export type ConnectOptions = {
  /** False: a service that does not run is not started. */
  start?: boolean
  /** Nothing is said of a service that is started. */
  quiet?: boolean | undefined
}

export type NamedText = { name: string; text: string }

/** What a person did at a prompt: a message, Ctrl-C, or Ctrl-D. */
export type PromptAnswer = { line: string } | 'interrupt' | 'end'

/** Reads lines; input typed between two questions is kept for the next one. */
export type LinePrompt = {
  /** A message that a person types or pastes, of one or more lines, with earlier ones on the arrow keys. */
  ask(question: string, history: readonly string[]): Promise<PromptAnswer>
  close(): void
}
export type OpenPrompt = () => LinePrompt

/** A backup's own description. */
export type BackupNote = {
  /** ISO 8601. */
  takenAt: string
  /** Results, artifacts and checkpoints that are separate files. */
  bodies: number
  secrets: number
  /** Whether it includes the key that opens the secrets, or on a cluster the Secrets. */
  hasKey: boolean
  /** Of a cluster's backup: its objects and rows, and the number of the database's schema. */
  cluster?: { objects: number; records: number; schema: number }
}
