// The files of `svc install-service`, read by the programs that they are for.
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { waitFor } from '../fixtures/time.ts'
import { environmentOf, launcher, launchSvc, makeFolder, removeFolder, runSvc } from './service.ts'

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
