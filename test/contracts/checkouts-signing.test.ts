// Commits signed with a key of SSH: checked by git itself, and never the reason that work is lost.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createEgress } from '../../src/egress/egress.ts'
import { createCheckouts } from '../../src/git/checkouts.ts'
import { openCheckoutFolder } from '../../src/runtime/local/attempt.ts'
import { type CheckoutBed, failureOf, makeCheckoutBed, never, ownNetwork } from '../fixtures/git/checkout-bed.ts'
import { git } from '../fixtures/git/repository.ts'

const isMissing = !existsSync('/usr/bin/ssh-keygen')

describe.skipIf(isMissing)(`a signed commit${isMissing ? ' (skipped: ssh-keygen is not installed)' : ''}`, () => {
  const egress = createEgress()
  let bed: CheckoutBed
  let repository: string
  beforeAll(async () => {
    bed = await makeCheckoutBed()
    repository = bed.repository('signed', { 'a.txt': 'x\n' })
  })
  afterAll(async () => {
    await egress.close()
    await bed.remove()
  })

  function makeKey(name: string, passphrase = ''): string {
    const file = join(bed.home, name)
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', passphrase, '-C', 'made up', '-f', file])
    return file
  }
  function makePipe(): string {
    const file = join(bed.home, 'pipe')
    execFileSync('mkfifo', [file])
    return file
  }
  const open = (signingKey: string) =>
    createCheckouts({ root: join(bed.home, 'signing'), egress, policy: ownNetwork, signingKey })

  it.each([
    ['absolute', (file: string) => file],
    ['relative', (file: string) => relative(process.cwd(), file)],
  ])('is one that git verifies, where the path of the key is %s', async (branch, pathOf) => {
    const key = makeKey(branch)
    const spec = bed.spec('signed', { pushBranch: branch })
    const checkout = await open(pathOf(key)).prepare(spec, bed.newFolder(), never)
    writeFileSync(join(checkout.folder, 'a.txt'), 'y\n')
    await checkout.commit('work')
    const { commit } = await checkout.push()
    const signers = join(bed.home, 'signers')
    writeFileSync(signers, `ada@example.com ${readFileSync(`${key}.pub`, 'utf8')}`)
    const show = ['-c', `gpg.ssh.allowedSignersFile=${signers}`, 'log', '-1', '--format=%G? %GS', commit]
    expect(git(repository, show)).toBe('G ada@example.com')
  })

  it.each([
    ['there is none', () => join(bed.home, 'none'), /No such file/],
    ['it is a folder', () => bed.home, /is not a file/],
    ['it is a pipe', makePipe, /is not a file/],
    ['it has a passphrase', () => makeKey('locked', 'made-up-phrase'), /passphrase/],
  ])('is refused before any work is done when %s', async (_what, file, reason) => {
    const failure = await failureOf(open(file()).prepare(bed.spec('signed'), bed.newFolder(), never))
    expect(failure).toMatchObject({ fault: 'SigningFailed', message: expect.stringMatching(reason) })
    expect(failure.message).toContain('--git-signing-key must be the private key of SSH')
  })

  it('that cannot be made leaves the diff', async () => {
    const key = makeKey('brief')
    const lines: string[] = []
    const kept = new Map<string, string>()
    const folder = openCheckoutFolder(
      {
        checkouts: open(key),
        saveChanges: async () => undefined,
        saveDiff: async (_key, name, diff) => void kept.set(name, diff),
      },
      {
        spec: {
          key: { taskUid: 'uid', attempt: 1 },
          namespace: 'default',
          taskName: 'work',
          limits: {},
          checkout: { spec: bed.spec('signed'), message: 'work' },
          run: { kind: 'command', command: ['true'], args: [], env: {} },
        },
        sink: async (said) => void lines.push(...said),
        signal: never,
      },
    )
    const place = bed.newFolder()
    await folder?.fill(place)
    writeFileSync(join(place, 'a.txt'), 'changed\n')
    rmSync(key)
    expect(await folder?.finish({ end: { ok: true } })).toMatchObject({ ok: false, reason: 'CheckoutFailed' })
    expect(kept.get('changes.diff')).toContain('+changed')
    expect(lines.at(-1)).toContain('task download work changes.diff')
  })
})
