// code_exec in the real sandbox of this machine.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import type { Egress } from '../../src/ports/service/egress.ts'
import { createSandbox } from '../../src/runtime/local/sandbox/sandbox.ts'
import { createToolHost } from '../../src/tools/registry/registry.ts'
import type { ToolContext } from '../../src/tools/registry/tool.ts'

let count = 0
const ids = {
  next: (prefix = 'id') => `${prefix}-${process.pid}-${++count}`,
  hex: (length: number) => 'a'.repeat(length),
  random: () => 0.5,
}
const sandbox = createSandbox({ ids })
const state = await sandbox.check()
const reason = state.available ? '' : ` (skipped: ${state.reason})`

let workspaceRoot = ''
beforeAll(async () => {
  workspaceRoot = await mkdtemp(join(tmpdir(), 'code-exec-'))
})
afterAll(() => rm(workspaceRoot, { recursive: true, force: true }))

function host(sharesWorkspace = true) {
  // No tool that dials out is called here.
  const egress = {} as Egress
  const egressPolicy = { allowNetworks: [], deny: [] }
  const context: ToolContext = { workspaceRoot, sharesWorkspace, sandbox, egress, egressPolicy }
  return createToolHost({ context })
}

async function call(name: string, args: JsonObject, using = host()): Promise<JsonObject> {
  const { content } = await using.call({ id: '1', name, args }, new AbortController().signal)
  expect(Buffer.byteLength(content)).toBeLessThan(65_536)
  return JSON.parse(content) as JsonObject
}
const run = (language: string, code: string, rest: JsonObject = {}) => call('code_exec', { language, code, ...rest })

describe.skipIf(!state.available)(`code_exec${reason}`, () => {
  const programs: [string, string][] = [
    ['python', 'import sys; print(6 * 7); print("oops", file=sys.stderr); sys.exit(3)'],
    ['javascript', 'console.log(6 * 7); console.error("oops"); process.exit(3)'],
    ['bash', 'echo $((6 * 7)); echo oops >&2; exit 3'],
  ]
  it.each(programs)('runs %s and gives output, error and exit code [BUILT-004] [BUILT-005]', async (language, code) => {
    if (state.available && !state.languages.includes(language)) return
    expect(await run(language, code)).toMatchObject({
      success: true,
      output: '42\n',
      error: 'oops\n',
      exit_code: 3,
      timed_out: false,
    })
  })

  it('refuses another language, and a timeout over 60 s instead of changing it [BUILT-004] [BUILT-006] [BUILT-025]', async () => {
    expect(await run('ruby', 'puts 1')).toMatchObject({ success: false, errorType: 'invalid_arguments' })
    const late = await run('bash', 'true', { timeout: 61 })
    expect(late).toMatchObject({ success: false, errorType: 'invalid_arguments' })
    expect(late.error).toContain('timeout')
    expect(await run('bash', 'true', { timeout: 60 })).toMatchObject({ success: true })
  })

  it('ends a program at its timeout and keeps what it printed', async () => {
    const result = await run('bash', 'echo begun; sleep 100', { timeout: 1 })
    expect(result).toMatchObject({ success: true, output: 'begun\n', timed_out: true })
    expect(result.note).toContain('1 s')
  })

  it('has no network and no way to the machine [BUILT-020] [BUILT-021]', async () => {
    const code = 'cat /etc/shadow; echo x > /usr/x; (echo > /dev/tcp/1.1.1.1/80) && echo reached; ls /root /home; true'
    const result = await run('bash', code)
    expect(result.output).not.toContain('reached')
    expect(result.output).not.toContain('root:')
    expect(result.error).toMatch(/Read-only|Permission denied/)
  })

  it('shares the workspace with the file tools where it is the scratch folder of the run [BUILT-021]', async () => {
    await call('file_write', { path: 'data/in.txt', content: 'from the tool' })
    const result = await run('bash', 'cat /workspace/data/in.txt; echo -n made > made.txt')
    expect(result).toMatchObject({ output: 'from the tool', exit_code: 0 })
    expect(await call('file_read', { path: '/workspace/made.txt' })).toMatchObject({ content: 'made' })
    await writeFile(join(workspaceRoot, 'private.txt'), 'private')
    const apart = await call('code_exec', { language: 'bash', code: 'ls -A; echo x > y' }, host(false))
    expect(apart).toMatchObject({ output: '', exit_code: 0 })
    await expect(readFile(join(workspaceRoot, 'y'))).rejects.toThrow('ENOENT')
  })

  it('cuts a flood within 64 KiB and says so [BUILT-028]', async () => {
    const flood = await run('bash', 'yes | head -c 10000000; yes "\x01" | head -c 1000000 >&2')
    expect(flood).toMatchObject({ output_truncated: true, error_truncated: true, exit_code: 0 })
    expect(flood.note).toContain('cut')
  })

  it('bounds memory and processes [BUILT-022]', async () => {
    const greedy = await run('python', 'x = bytearray(3 * 1024**3); print(len(x))')
    expect(greedy.exit_code).not.toBe(0)
    expect(greedy.output).toBe('')
    const lines = ['import subprocess', 'n = 0', 'try:', '  for i in range(300):']
    lines.push(
      '    subprocess.Popen(["sleep", "2"], stdout=-3, stderr=-3)',
      '    n += 1',
      'except OSError: pass',
      'print(n)',
    )
    const forks = await run('python', lines.join('\n'))
    expect(Number(forks.output)).toBeGreaterThan(0)
    expect(Number(forks.output)).toBeLessThan(100)
  })

  it('takes programs longer than one argument of the system', async () => {
    const code = `x = "${'y'.repeat(200_000)}"\nprint(len(x))`
    expect(await run('python', code)).toMatchObject({ output: '200000\n', exit_code: 0 })
  })
})
