import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { runnerScript } from './scripts.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-runner-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** As the start of a command leaves its folder. */
function run(command: string, stdin: Buffer) {
  const files = { command, stdin, stdout: '', stderr: '', run: runnerScript }
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  const limits = ['60', '1', '100000', folder]
  execFileSync('sh', [join(folder, 'run'), folder, ...limits], { stdio: 'ignore', timeout: 60_000 })
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  return { exitCode: read('exit').trim(), stdout: read('stdout') }
}

it('gives a command its input through a pipe, beside which no file has it', () => {
  const { stdout, exitCode } = run('cat; readlink /proc/self/fd/0; ls; exit 3', Buffer.from('made-up\n'))
  const [input, opened, ...files] = stdout.trim().split('\n')
  expect([exitCode, input, opened]).toEqual(['3', 'made-up', join(folder, 'in')])
  expect(files).toContain('runner')
  expect(files).not.toContain('stdin')
})

it('gives no more than the end to a command without input', () => {
  expect(run('cat; echo over', Buffer.alloc(0))).toEqual({ exitCode: '0', stdout: 'over\n' })
})

it('lets a command end that has not read its input', () => {
  expect(run('echo over', Buffer.alloc(1_000_000, 'x'))).toEqual({ exitCode: '0', stdout: 'over\n' })
})

it('gives a large input whole', () => {
  expect(run('wc -c', Buffer.alloc(3_000_000, 'x')).stdout.trim()).toBe('3000000')
})
