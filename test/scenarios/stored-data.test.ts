// Data that an earlier state of the program stored opens in this one: it is migrated, and everything in it is there.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import {
  createTask,
  makeFolder,
  readResult,
  removeFolder,
  root,
  type Service,
  startService,
  waitForPhase,
} from './service.ts'

const fixtures = join(root, 'test', 'fixtures', 'stored-data')
const states = readdirSync(fixtures).flatMap((name) => /^(\d{4})\.json$/.exec(name)?.[1] ?? [])

/** What is stored is old by the time it is read. */
const keepAll = [
  '--task-ttl',
  '0',
  ...['session', 'event', 'audit', 'usage'].flatMap((kind) => [`--${kind}-retention`, '36500d']),
]

const open: { folder: string; service?: Service }[] = []
afterAll(async () => {
  for (const { folder, service } of open) {
    await service?.stop()
    removeFolder(folder)
  }
})

async function openState(state: string): Promise<Service> {
  const folder = makeFolder()
  const opened: (typeof open)[number] = { folder }
  open.push(opened)
  execFileSync('tar', ['-xzf', join(fixtures, `${state}.tar.gz`), '-C', folder])
  opened.service = await startService({ folder, flags: keepAll })
  return opened.service
}

function forgetStatus(known: { status?: unknown; items?: { status?: unknown }[] }): void {
  for (const object of [known, ...(known.items ?? [])]) delete object.status
}

describe.each(states)('a data folder of migration %s', (state) => {
  const answers = JSON.parse(readFileSync(join(fixtures, `${state}.json`), 'utf8')) as Record<string, object>

  it('opens, has everything that was in it, and takes more', async () => {
    const service = await openState(state)
    expect(Object.keys(answers).length).toBeGreaterThan(10)
    for (const [path, known] of Object.entries(answers)) {
      // What a Provider's status says is of the present: nobody answers at the fixture's address.
      if (path.includes('/providers')) forgetStatus(known)
      const answer = await service.call('GET', path)
      expect([path, answer.status, answer.body]).toMatchObject([path, 200, known])
    }
    // The word itself would be struck out of what the task prints.
    const env = [{ name: 'WORD', valueFrom: { secretKeyRef: { name: 'kept-key', key: 'word' } } }]
    await createTask(service, 'opened', {
      type: 'container',
      command: ['/bin/sh', '-c', 'test "$WORD" = "a word of the fixture" && echo the same'],
      env,
    })
    await waitForPhase(service, 'opened', 'Succeeded')
    expect(await readResult(service, 'opened')).toBe('the same\n')
  })
})
