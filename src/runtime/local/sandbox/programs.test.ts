import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { countsProcessesPerNamespace } from '../../attempts/process-limits.ts'
import { probeBubblewrap } from '../confinement/bubblewrap.ts'
import { createPrograms } from './programs.ts'

const probe = await probeBubblewrap()
const nodePath = process.execPath
const root = mkdtempSync(join(tmpdir(), 'svc-programs-'))
const [folder, home, other] = ['work', 'home', 'other'].map((name) => join(root, name)) as [string, string, string]
for (const each of [folder, home, other]) mkdirSync(each)
afterAll(() => rmSync(root, { recursive: true, force: true }))

async function run(script: string, argv = ['/bin/sh', '-c', script]): Promise<{ text: string; code: number | null }> {
  const programs = createPrograms({ nodePath, bubblewrap: Promise.resolve(probe) })
  const env = { PATH: '/usr/bin:/bin', GIVEN: 'given' }
  const program = await programs.start({ argv, folder, home, env })
  let text = ''
  program.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
  })
  program.stderr.resume()
  program.stdin?.end('said')
  const { code } = await program.exited
  return { text, code }
}

describe.skipIf(!probe.available)('a program beside a worker, where bubblewrap can be had', () => {
  it('neither sees nor ends who started it', async () => {
    const { text } = await run(`kill -9 ${process.pid}; cat /proc/${process.pid}/environ; ls /proc/*/fd/3; echo lives`)
    expect(text).toBe('lives\n')
  })

  it('writes in its folder and its home only, and sees nothing beside them', async () => {
    const { text } = await run(
      `pwd; cat; echo $GIVEN; touch made ${home}/made; ls ${root}; touch ${other}/made /usr/made`,
    )
    expect(text).toBe(`${folder}\nsaidgiven\nhome\nwork\n`)
    expect([folder, home, other].map((each) => existsSync(join(each, 'made')))).toEqual([true, true, false])
  })

  it('is shown with its package, wherever that lies and whatever links to it', async () => {
    const [image, bin] = [join(root, 'image/node_modules'), join(root, 'image/bin')]
    for (const each of [join(image, 'talker/lib'), bin]) mkdirSync(each, { recursive: true })
    writeFileSync(join(image, 'talker/lib/words'), 'hello')
    writeFileSync(join(image, 'talker/talk'), `#!/bin/sh\ncat ${image}/talker/lib/words; echo " $1"; ls ${root}\n`, {
      mode: 0o755,
    })
    symlinkSync('../node_modules/talker/talk', join(bin, 'talk'))
    const { text } = await run('', [join(bin, 'talk'), 'world'])
    expect(text).toBe('hello world\nhome\nimage\nwork\n')
  })

  it('sees no accounts of the machine but its own user', async () => {
    const { text } = await run('cat /etc/passwd; id -un')
    expect(text).toBe('svc:x:1000:1000::/workspace:/bin/sh\nnobody:x:65534:65534::/:/bin/false\nsvc\n')
  })

  it('can read no file of the machine but those of its packages, and what names and certificates are looked up with', async () => {
    const pruned = ['/proc', '/sys', '/dev', '/usr', '/nix'].map((path) => `-path ${path} -prune -o`).join(' ')
    const { text } = await run(`find / ${pruned} -type f -readable -print 2>/dev/null`)
    const lookedUp =
      /^\/etc\/(ld\.so\.|alternatives\/|localtime$|ssl\/certs\/|ssl\/openssl\.cnf$|pki\/|ca-certificates\/|mime\.types$)/
    const network = /^\/etc\/(resolv\.conf|hosts|nsswitch\.conf|host\.conf|services|passwd|group)$/
    const others = text
      .split('\n')
      .filter((path) => path !== '' && !path.startsWith(root) && !path.endsWith('/bin/node'))
    expect(others).toContain('/etc/passwd')
    expect(others.filter((path) => !lookedUp.test(path) && !network.test(path))).toEqual([])
  })

  it('may leave programs that go on after it, whatever they print', async () => {
    const programs = createPrograms({ nodePath, bubblewrap: Promise.resolve(probe), leavesPrograms: true })
    const leave = async (script: string) => {
      const program = await programs.start({
        argv: ['/bin/sh', '-c', script],
        folder,
        home,
        env: { PATH: '/usr/bin:/bin' },
      })
      let text = ''
      program.stdout.on('data', (chunk: Buffer) => {
        text += chunk
      })
      program.stderr.resume()
      program.stdin?.end()
      await program.leave?.()
      expect(program.stdout.destroyed).toBe(true)
      return { text, code: (await program.exited).code }
    }
    const later = 'until [ -e go ]; do sleep 0.05; done; head -c 1000000 /dev/zero; echo done >done'
    expect(await leave(`(${later}) & echo told; exit 3`)).toEqual({ text: 'told\n', code: 3 })
    writeFileSync(join(folder, 'go'), '')
    while (!existsSync(join(folder, 'done'))) await delay(20)
    expect(await leave('echo alone')).toEqual({ text: 'alone\n', code: 0 })
  })

  it.skipIf(!countsProcessesPerNamespace(release()))('has a limit of processes', async () => {
    expect((await run('ulimit -p 2>/dev/null || ulimit -u')).text).toBe('512\n')
  })
})

describe('programs without a sandbox', () => {
  it('are told to be weaker, and why', async () => {
    const reason = 'bubblewrap is not installed'
    const bubblewrap = Promise.resolve({ available: false as const, reason, suggestion: 'install it' })
    expect(await createPrograms({ nodePath, bubblewrap }).isolationGap()).toBe(reason)
  })
})
