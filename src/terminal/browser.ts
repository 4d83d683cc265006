// Starts the browser of a person, without a shell.
import { spawn } from 'node:child_process'
import { delimiter } from 'node:path'

type Surroundings = { env: NodeJS.ProcessEnv; platform: NodeJS.Platform }

/** A browser that runs longer has started; the ways to one end at once. */
const startedAfterMs = 2000

/** `$BROWSER`: commands with `:` between them; `%s` is where the address goes, else the end. */
function readBrowsers(commands: string, url: string): string[][] {
  return commands
    .split(delimiter)
    .map((command) => command.trim().split(/\s+/))
    .filter(([program]) => program !== '')
    .map((words) =>
      words.some((word) => word.includes('%s'))
        ? words.map((word) => word.replaceAll('%s', () => url))
        : [...words, url],
    )
}

/** Of the system; none where there is no screen. */
function systemCommands(url: string, { env, platform }: Surroundings): string[][] {
  if (platform === 'darwin') return [['open', url]]
  if (platform === 'win32') return [['rundll32', 'url.dll,FileProtocolHandler', url]]
  if (env.WSL_DISTRO_NAME) return [['wslview', url]]
  return env.DISPLAY || env.WAYLAND_DISPLAY ? [['xdg-open', url]] : []
}

/** The commands to try, in order: program, then arguments. */
export function listBrowserCommands(url: string, { env, platform }: Surroundings): string[][] {
  return env.BROWSER ? readBrowsers(env.BROWSER, url) : systemCommands(url, { env, platform })
}

/** Whether it began to show something; what it prints is for nobody. */
function start([program = '', ...args]: string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { detached: true, stdio: 'ignore' })
    const timer = setTimeout(() => resolve(true), startedAfterMs)
    const end = (isStarted: boolean) => {
      clearTimeout(timer)
      resolve(isStarted)
    }
    child.once('error', () => end(false))
    child.once('exit', (code) => end(code === 0))
    child.unref()
  })
}

/** False when there is no browser to be started from here. */
export async function openBrowser(url: string, surroundings: Surroundings): Promise<boolean> {
  for (const command of listBrowserCommands(url, surroundings)) if (await start(command)) return true
  return false
}
