// The files that make a service start at login: a unit of systemd, or a property list of launchd.
import type { Environment } from '../config/environment.ts'

export type Launch = {
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
function quote(text: string): string {
  return `"${text.replaceAll(/[\\"%]/g, (sign) => quoted[sign] ?? sign)}"`
}

const quoteArgument = (text: string) => quote(text).replaceAll('$', '$$$$')

export function writeUnit({ command, environment }: Launch): string {
  return `# Made by install-service, which replaces it.
[Unit]
Description=svc, runs AI tasks
StartLimitIntervalSec=0

[Service]
ExecStart=${command.map(quoteArgument).join(' ')}
${Object.entries(environment)
  .map(([name, value]) => `Environment=${quote(`${name}=${value}`)}\n`)
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
export function writePropertyList({ command, environment, logFile }: Launch): string {
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
