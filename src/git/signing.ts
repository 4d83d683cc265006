// Signs the commits of the service with a key of SSH (git-config(1): gpg.format).
import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { CheckoutError } from '../ports/workspaces/checkouts.ts'
import { gitPath } from './command.ts'
import { toOneLine } from './faults.ts'

export type Signing = {
  /** Of `git commit-tree`. */
  args: string[]
  env: Record<string, string>
  /** CheckoutError when the key cannot be used: asked before any work is done, and once only when it can. */
  check(): Promise<void>
}

const run = promisify(execFile)

function refuse(reason: string): CheckoutError {
  const advice =
    '--git-signing-key must be the private key of SSH, without a passphrase, that only the service can read'
  return new CheckoutError('SigningFailed', `Commits cannot be signed: ${reason}. ${advice}.`)
}

/** Reads the key as signing does: a passphrase cannot be asked for. */
async function readKey(keyFile: string): Promise<void> {
  // Reading a pipe might never end.
  const found = await stat(keyFile).catch(() => undefined)
  if (found?.isFile() === false) throw refuse(`${keyFile} is not a file`)
  try {
    await run('ssh-keygen', ['-y', '-P', '', '-f', keyFile], { env: { PATH: gitPath, LC_ALL: 'C' }, timeout: 10_000 })
  } catch (error) {
    const { code, stderr = '' } = error as { code?: unknown; stderr?: string }
    throw refuse(code === 'ENOENT' ? 'ssh-keygen is not installed' : toOneLine(stderr))
  }
}

export function createSigning(keyPath: string | undefined): Signing {
  if (keyPath === undefined) return { args: [], env: {}, check: async () => undefined }
  // Git works in a folder of its own.
  const keyFile = resolve(keyPath)
  let checked: Promise<void> | undefined
  return {
    args: ['-S'],
    env: {
      GIT_CONFIG_COUNT: '2',
      GIT_CONFIG_KEY_0: 'gpg.format',
      GIT_CONFIG_VALUE_0: 'ssh',
      GIT_CONFIG_KEY_1: 'user.signingKey',
      GIT_CONFIG_VALUE_1: keyFile,
    },
    async check() {
      checked ??= readKey(keyFile)
      await checked.catch((error: unknown) => {
        checked = undefined
        throw error
      })
    },
  }
}
