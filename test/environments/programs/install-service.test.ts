// The files of `svc install-service`, read by the programs that they are for.
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { waitFor } from '../../fixtures/time.ts'
import { environmentOf, launcher, launchSvc, makeFolder, removeFolder, runSvc } from '../../scenarios/service.ts'

let folder: string
let env: NodeJS.ProcessEnv
beforeAll(() => {
  // A home that has in it all that the two formats have a meaning for.
  folder = join(makeFolder(), 'a "$HOME" & 100%h \\n')
  mkdirSync(folder)
  env = environmentOf(folder)
})
afterAll(() => removeFolder(join(folder, '..')))

const hasProgram = (name: string) => {
  try {
    execFileSync('sh', ['-c', `command -v ${name}`])
    return true
  } catch {
    return false
  }
}

const print = (...flags: string[]) => launchSvc(['install-service', '--print', ...flags], env)

describe.skipIf(process.platform !== 'linux')('a unit of systemd', () => {
  it('carries settings, and no key or token', async () => {
    const given = {
      SVC_LOG_LEVEL: 'warn',
      SVC_BOOTSTRAP_TOKEN: 'made-up-token-of-the-owner',
      OPENAI_API_KEY: 'made-up-key',
    }
    const { stdout } = await runSvc(['install-service', '--print', '--port', '0'], { ...env, ...given })
    expect(stdout).toMatch(/^ExecStart=.*"up".* "--port=0" "--log-level=warn"$/m)
    expect(stdout).not.toContain('made-up')
  })

  it.skipIf(!hasProgram('systemd-analyze'))('is valid for systemd', async () => {
    const { stdout, stderr } = await print()
    const unit = join(folder, '..', 'svc.service')
    writeFileSync(unit, stdout)
    const verify = () =>
      execFileSync('systemd-analyze', ['--user', 'verify', unit], {
        encoding: 'utf8',
        env: { ...env, XDG_RUNTIME_DIR: join(folder, '..') },
        stdio: 'pipe',
      })
    expect(stderr).toBe('')
    expect(verify).not.toThrow()
    writeFileSync(unit, stdout.replace(/^ExecStart=.*$/m, 'ExecStart=no-program'))
    expect(verify).toThrow('no-program')
  })

  it('is installed, replaced and taken away by systemctl, where systemd answers', async () => {
    const programs = join(folder, '..', 'programs')
    mkdirSync(programs)
    const calls = join(folder, '..', 'calls')
    const answer = (code: number) => {
      writeFileSync(join(programs, 'systemctl'), `#!/bin/sh\necho "$*" >> '${calls}'\necho no bus >&2\nexit ${code}\n`)
      chmodSync(join(programs, 'systemctl'), 0o755)
    }
    const install = async (...flags: string[]) => {
      writeFileSync(calls, '')
      const outcome = await runSvc(['install-service', ...flags], {
        ...env,
        PATH: `${programs}${delimiter}${env.PATH}`,
      })
      return { ...outcome, calls: readFileSync(calls, 'utf8').trim().split('\n') }
    }
    const unit = join(folder, 'config', 'systemd', 'user', 'svc.service')
    answer(1)
    expect(await install()).toMatchObject({ code: 3, stderr: expect.stringMatching(/does not answer.*no bus/) })
    expect(existsSync(unit)).toBe(false)
    answer(0)
    const starting = [
      '--user show-environment',
      '--user daemon-reload',
      '--user enable svc.service',
      '--user restart svc.service',
    ]
    expect(await install()).toMatchObject({
      code: 0,
      calls: starting,
      stderr: expect.stringContaining('journalctl --user -u svc'),
    })
    expect(readFileSync(unit, 'utf8').split('\n')[0]).toBe((await print()).stdout.split('\n')[0])
    expect(await install('--port', '9')).toMatchObject({ code: 0, stderr: expect.stringContaining('updated') })
    expect(readFileSync(unit, 'utf8')).toContain('"--port=9"')
    const ending = ['--user show-environment', '--user disable --now svc.service', '--user daemon-reload']
    expect(await install('--uninstall')).toMatchObject({ code: 0, calls: ending })
    expect(existsSync(unit)).toBe(false)
    expect(await install('--uninstall')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('no service is installed'),
    })
  })
})

const manager = '/lib/systemd/systemd'

/** Whether a manager of a user can run here without being the machine's: it asks for a folder that only root can make. */
function canRunManager(): boolean {
  if (process.getuid?.() !== 0 || !existsSync(manager)) return false
  try {
    execFileSync('unshare', ['--mount', '--propagation', 'private', 'mount', '-t', 'tmpfs', 'none', '/run'], {
      stdio: 'ignore',
    })
    return existsSync('/sys/fs/cgroup/systemd') || existsSync('/sys/fs/cgroup/cgroup.controllers')
  } catch {
    return false
  }
}

/** In a mount namespace of its own, so that nobody else takes this machine for one that systemd has started. */
const withManager = `
mount -t tmpfs none /run && mkdir -p /run/systemd/system
${manager} --user --log-target=null &
manager=$!
trap 'kill $manager; wait $manager' EXIT
until systemctl --user show-environment >/dev/null 2>&1; do kill -0 $manager || { echo no manager; exit 0; }; sleep 0.1; done
pid() { systemctl --user show svc --property=MainPID --value; }
wait_for() { for _ in $(seq 300); do [ "$("$@")" = yes ] && return; sleep 0.1; done; echo "not: $*"; }
serves() { svc status >/dev/null 2>&1 && [ "$(pid)" != 0 ] && [ "$(pid)" != "$1" ] && echo yes; }
svc() { "$NODE" "$LAUNCHER" "$@"; }
svc install-service --port 0 2>/dev/null
wait_for serves 0
killed=$(pid)
kill -9 "$killed"
wait_for serves "$killed"
echo "after a kill: $(systemctl --user is-active svc)"
svc down >/dev/null 2>&1
# systemd learns of it a moment later.
stopped() { [ "$(systemctl --user is-active svc)" = inactive ] && echo yes; }
wait_for stopped
echo "after down: $(systemctl --user is-active svc), $(systemctl --user is-enabled svc)"
svc install-service --uninstall 2>/dev/null
echo "uninstalled: $(systemctl --user show svc --property=LoadState --value)"
`

describe.skipIf(!canRunManager())('a real manager of systemd', () => {
  it('starts the service, starts it again when it is killed, leaves it stopped after `svc down`, and forgets it', ({
    skip,
  }) => {
    const home = join(makeFolder(), 'home')
    const runtime = join(home, 'runtime')
    mkdirSync(runtime, { recursive: true, mode: 0o700 })
    const variables = { HOME: home, XDG_RUNTIME_DIR: runtime, NODE: process.execPath, LAUNCHER: launcher }
    const own = { PATH: process.env.PATH, ...variables }
    const output = execFileSync('unshare', ['--mount', '--propagation', 'private', 'bash', '-c', withManager], {
      env: own,
      encoding: 'utf8',
      timeout: 110_000,
    })
    skip(output.startsWith('no manager'), `${manager} does not run here`)
    expect(output.trim().split('\n')).toEqual([
      'after a kill: active',
      'after down: inactive, enabled',
      'uninstalled: not-found',
    ])
    removeFolder(join(home, '..'))
  })
})

const parsePlist = 'import json, plistlib, sys; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))'

type PropertyList = {
  ProgramArguments: string[]
  EnvironmentVariables: Record<string, string>
  StandardOutPath: string
}

describe.skipIf(!hasProgram('python3'))('a property list of launchd', () => {
  it('starts a service as the system would, which a terminal does not take over and `svc down` stops', async () => {
    const { stdout } = await print('--manager', 'launchd', '--port', '0')
    const parsed = JSON.parse(
      execFileSync('python3', ['-c', parsePlist], { input: stdout, encoding: 'utf8' }),
    ) as PropertyList
    const [program = '', ...args] = parsed.ProgramArguments
    expect(args).toContain(launcher)
    expect(parsed.StandardOutPath).toBe(join(folder, 'share', 'svc', 'service.log'))
    const child = spawn(program, args, { env: { HOME: '/nowhere', ...parsed.EnvironmentVariables }, stdio: 'ignore' })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    const note = await waitFor(async () => {
      const status = await runSvc(['status', '-o', 'json'], env)
      return status.code === 0 ? status.stdout : undefined
    }, 'the service to be ready')
    expect(note).toContain('"status": "ok"')
    const second = await launchSvc(['up', '--port', '0'], env)
    expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining(String(child.pid)) })
    expect(await runSvc(['down'], env)).toMatchObject({ code: 0, stderr: expect.stringContaining('stopped') })
    expect(await ended).toBe(0)
  })
})
