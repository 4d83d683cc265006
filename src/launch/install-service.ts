// Installs this program as a service of the user that starts at login (systemd, launchd), and takes it away again.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { commandHint } from '../client/command-hint.ts'
import type { InstalledService, ServiceFile, ServiceManager, ServiceOptions } from '../client/machine.ts'
import { type Environment, readEnvironment } from '../config/environment.ts'
import type { Config } from '../config/load.ts'
import { readBaseFolder } from '../config/paths.ts'
import { environmentNameOf, flagOf, type Setting, type SettingName, settings } from '../config/settings.ts'
import { SvcError } from '../errors.ts'
import { configOf } from './connect.ts'
import { prepareFolders } from './folders.ts'
import { findLocalService } from './local-service.ts'
import { launcherPath } from './program-files.ts'
import { startedByVariable } from './service-file.ts'

const run = promisify(execFile)

/** The file for the manager, or for the one of this system; nothing is written. */
export function describeService(
  options: ServiceOptions,
  manager: ServiceManager = managerOf(process.platform),
): ServiceFile {
  const env = readEnvironment()
  const config = configOf(options)
  const launch = describeLaunch(config, options, env)
  return {
    manager,
    path: servicePathOf(manager, env),
    text: manager === 'systemd' ? writeUnit(launch) : writePropertyList(launch),
    leftOut: listLeftOut(config),
    log: manager === 'systemd' ? 'journalctl --user -u svc' : launch.logFile,
  }
}

/** Unavailable where neither manager is there. */
function managerOf(platform: NodeJS.Platform): ServiceManager {
  if (platform === 'linux') return 'systemd'
  if (platform === 'darwin') return 'launchd'
  throw new SvcError(
    'Unavailable',
    `neither systemd nor launchd is on ${platform}: start \`${commandHint('up')}\` yourself`,
  )
}

function servicePathOf(manager: ServiceManager, env: Environment): string {
  const home = env.HOME ?? homedir()
  if (manager === 'launchd') return join(home, 'Library', 'LaunchAgents', `${agentLabel}.plist`)
  return join(readBaseFolder(env.XDG_CONFIG_HOME) ?? join(home, '.config'), 'systemd', 'user', unitName)
}

/** What was given here, by flags or by the environment, holds for the service; a secret stands in no such file. */
function describeLaunch(config: Config, options: ServiceOptions, env: Environment): LaunchCommand {
  const { dataDir, configDir } = config.paths
  if (/[\\/]_npx[\\/]/.test(launcherPath))
    throw new SvcError(
      'InvalidRequest',
      'npx keeps this program for a while only: install it first, with npm install -g',
    )
  const file = options.config ?? env.SVC_CONFIG
  const named = listGiven(config).filter((name) => name !== 'dataDir' && name !== 'configDir' && !isSecret(name))
  const flags = named.map(
    (name) => `--${flagOf(name)}=${String(options.settings[name] ?? env[environmentNameOf(name)])}`,
  )
  const more = file === undefined ? [] : ['--config', file]
  const folders = ['--data-dir', dataDir, '--config-dir', configDir]
  return {
    command: [process.execPath, ...process.execArgv, launcherPath, 'up', ...folders, ...more, ...flags],
    environment: { PATH: servicePath(env), [startedByVariable]: 'system' },
    logFile: join(dataDir, 'service.log'),
  }
}

const isSecret = (name: SettingName) => (settings[name] as Setting).secret === true

function listGiven({ sources }: Config): SettingName[] {
  const names = Object.keys(sources) as SettingName[]
  return names.filter((name) => sources[name] === 'flag' || sources[name] === 'environment')
}

/** Variables of this environment that the service will not have. */
function listLeftOut(config: Config): string[] {
  const keys = config.vendorKeys.map(({ name }) => name)
  return [...keys, ...listGiven(config).filter(isSecret).map(environmentNameOf)]
}

/** Writes the file and starts the service, or starts it anew. Unavailable where the manager does not answer. */
export async function installService(options: ServiceOptions): Promise<InstalledService> {
  const file = describeService(options)
  const config = configOf(options)
  await requireManager(file.manager)
  const running = await findLocalService(config.paths)
  if (running !== undefined && running.startedBy === undefined)
    throw new SvcError('Conflict', `a service runs in a terminal (pid ${running.pid}): stop it there first`)
  prepareFolders(config)
  mkdirSync(dirname(file.path), { recursive: true })
  const isNew = !existsSync(file.path)
  writeFileSync(file.path, file.text)
  await (file.manager === 'systemd' ? startUnit() : startAgent(file.path))
  return { ...file, isNew }
}

/** False when none was installed. */
export async function uninstallService(): Promise<boolean> {
  const manager = managerOf(process.platform)
  const path = servicePathOf(manager, readEnvironment())
  if (!existsSync(path)) return false
  await requireManager(manager)
  if (manager === 'systemd') await call('systemctl', '--user', 'disable', '--now', unitName)
  else await call('launchctl', 'bootout', `${domain()}/${agentLabel}`).catch(() => undefined)
  rmSync(path)
  if (manager === 'systemd') await call('systemctl', '--user', 'daemon-reload')
  return true
}

async function startUnit(): Promise<void> {
  await call('systemctl', '--user', 'daemon-reload')
  await call('systemctl', '--user', 'enable', unitName)
  await call('systemctl', '--user', 'restart', unitName)
}

async function startAgent(path: string): Promise<void> {
  // It is not there the first time.
  await call('launchctl', 'bootout', `${domain()}/${agentLabel}`).catch(() => undefined)
  await call('launchctl', 'bootstrap', domain(), path)
}

const domain = () => `gui/${process.getuid?.() ?? 0}`

async function requireManager(manager: ServiceManager): Promise<void> {
  try {
    if (manager === 'systemd') await call('systemctl', '--user', 'show-environment')
    else await call('launchctl', 'print', domain())
  } catch (error) {
    const reason = error instanceof SvcError ? `: ${error.message}` : ''
    throw new SvcError(
      'Unavailable',
      `${manager} does not answer for this user${reason}. \`${commandHint('install-service --print')}\` shows the file for it, \`${commandHint('up')}\` serves without it.`,
      { cause: error },
    )
  }
}

/** UpstreamFailed with what it said. */
async function call(program: string, ...args: string[]): Promise<void> {
  try {
    await run(program, args)
  } catch (error) {
    const { stderr, message, code } = error as { stderr?: string; message: string; code?: unknown }
    const reason = code === 'ENOENT' ? 'it is not installed' : stderr?.trim() || message
    throw new SvcError('UpstreamFailed', `${program} ${args.join(' ')}: ${reason}`, { cause: error })
  }
}

export type LaunchCommand = {
  /** Program and arguments, with absolute paths. */
  command: string[]
  environment: Record<string, string>
  /** Where launchd puts what the service writes; systemd has a journal. */
  logFile: string
}

/** Of the unit; launchd has names with dots. */
export const unitName = 'svc.service'
export const agentLabel = 'ai.svc.service'

/** Exit code for a wrong setting: starting again would not help. */
const usageCode = 2
const restartSeconds = 5
/** Longer than a stop may take (--drain-timeout and what comes after it). */
const stopSeconds = 60

const quoted: Record<string, string> = { '\\': '\\\\', '"': '\\"', '%': '%%' }

/** In double quotes, as systemd.syntax(7) and systemd.service(5) have them; `%` and, of a command, `$` would be expanded. */
function quoteForUnit(text: string): string {
  return `"${text.replaceAll(/[\\"%]/g, (sign) => quoted[sign] ?? sign)}"`
}

const quoteArgument = (text: string) => quoteForUnit(text).replaceAll('$', '$$$$')

export function writeUnit({ command, environment }: LaunchCommand): string {
  return `# Made by install-service, which replaces it.
[Unit]
Description=svc, runs AI tasks
StartLimitIntervalSec=0

[Service]
ExecStart=${command.map(quoteArgument).join(' ')}
${Object.entries(environment)
  .map(([name, value]) => `Environment=${quoteForUnit(`${name}=${value}`)}\n`)
  .join('')}Restart=on-failure
RestartSec=${restartSeconds}
RestartPreventExitStatus=${usageCode}
KillMode=mixed
TimeoutStopSec=${stopSeconds}

[Install]
WantedBy=default.target
`
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const escapeXml = (text: string) => text.replaceAll(/[&<>]/g, (sign) => escapes[sign] ?? sign)
const textOf = (text: string) => `<string>${escapeXml(text)}</string>`

/** launchd.plist(5). It starts again after a crash, not after a stop. */
export function writePropertyList({ command, environment, logFile }: LaunchCommand): string {
  const variables = Object.entries(environment).map(([name, value]) => `<key>${escapeXml(name)}</key>${textOf(value)}`)
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Made by install-service, which replaces it. -->
<plist version="1.0">
<dict>
  <key>Label</key>${textOf(agentLabel)}
  <key>ProgramArguments</key>
  <array>
    ${command.map(textOf).join('\n    ')}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    ${variables.join('\n    ')}
  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ThrottleInterval</key><integer>${restartSeconds}</integer>
  <key>ExitTimeOut</key><integer>${stopSeconds}</integer>
  <key>StandardOutPath</key>${textOf(logFile)}
  <key>StandardErrorPath</key>${textOf(logFile)}
</dict>
</plist>
`
}

const ofNpm = /\/(node_modules\/\.bin|node-gyp-bin)\/?$/

/** Where git, bubblewrap and container engines are found; not what npm adds while a command of its own runs. */
export function servicePath({ PATH = '' }: Environment): string {
  return [...new Set(PATH.split(':').filter((folder) => folder.startsWith('/') && !ofNpm.test(folder)))].join(':')
}
