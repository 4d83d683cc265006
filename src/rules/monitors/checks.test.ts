import { execFileSync, spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { createCheckLog, findValidationReason, writeCheckCommand } from './checks.ts'

const fence = 'f3nce'

function run(commands: string[]) {
  const [program = '', ...args] = writeCheckCommand(commands, fence)
  const { stdout, status } = spawnSync(program, args, { encoding: 'utf8' })
  const log = createCheckLog(commands, fence)
  for (const line of stdout.split('\n')) log.read(line)
  return { status, ...log.end() }
}

describe('checks', () => {
  it('run one after the other whatever came of the ones before', () => {
    const commands = ['echo one; exit 3', 'printf "no end"', `echo "it's"; echo two >&2`, 'kill -9 $$']
    expect(run(commands)).toEqual({
      status: 1,
      begun: true,
      outcomes: [
        { command: commands[0], output: 'one', exitCode: 3 },
        { command: commands[1], output: 'no end', exitCode: 0 },
        { command: commands[2], output: "it's\ntwo", exitCode: 0 },
        { command: commands[3], output: expect.any(String), exitCode: 137 },
      ],
    })
    expect(run(['true']).status).toBe(0)
  })

  it('that took too long have the output of the one that did not end', () => {
    const log = createCheckLog(['a', 'b', 'c'], fence)
    for (const line of ['[checked out]', `${fence} begin`, 'x', '', `${fence} 0 0`, 'half']) log.read(line)
    expect(log.end().outcomes).toEqual([
      { command: 'a', output: 'x', exitCode: 0 },
      { command: 'b', output: 'half' },
      { command: 'c', output: '' },
    ])
  })

  it('whose log has lost its beginning are told apart all the same', () => {
    const log = createCheckLog(['a', 'b'], fence)
    for (const line of ['the end of b', `${fence} 1 2`]) log.read(line)
    expect(log.end()).toEqual({
      begun: true,
      outcomes: [
        { command: 'a', output: '' },
        { command: 'b', output: 'the end of b', exitCode: 2 },
      ],
    })
  })

  it('keep the end of a flood, and a mark of another word is output', () => {
    const log = createCheckLog(['a'], fence)
    log.read(`${fence} begin`)
    for (let count = 0; count < 3000; count += 1) log.read(`line ${count} ${'x'.repeat(100)}`)
    for (const line of ['other 0 0', `${fence} 0 0 0`, 'last', '', `${fence} 0 1`]) log.read(line)
    const { output, exitCode } = log.end().outcomes[0] ?? { output: '' }
    expect([exitCode, output.length]).toEqual([1, expect.any(Number)])
    expect(output.length).toBeLessThanOrEqual(4000)
    expect(output).toMatch(/other 0 0\nf3nce 0 0 0\nlast$/)
  })

  it('that were never started are told from those that failed', () => {
    const log = createCheckLog(['a'], fence)
    log.read('no sandbox')
    expect(log.end()).toEqual({ begun: false, outcomes: [{ command: 'a', output: '' }] })
  })

  it('need a shell and nothing else', () => {
    const [program = '', ...args] = writeCheckCommand(['echo fine'], fence)
    expect(execFileSync(program, args, { env: {} }).toString()).toContain('fine')
  })
})

describe('why checks do not run', () => {
  const spec = (validation: object) => ({ validation }) as never
  const commands = ['true']
  it.each([
    [{ mode: 'full' }, ['a.ts'], 'the monitor has no validation commands'],
    [{ mode: 'off', commands }, ['a.ts'], 'validation is off'],
    [{ mode: 'changed', commands }, ['docs/a.ts', 'README.md', 'LICENSE'], 'only documentation changed'],
    [{ mode: 'changed', commands }, ['README.md', 'src/a.ts'], undefined],
    [{ mode: 'full', commands }, ['README.md'], undefined],
    [{ mode: 'changed', commands }, [], undefined],
  ])('%o %o: %s', (validation, paths, reason) => {
    expect(findValidationReason(spec(validation), paths)).toBe(reason)
  })
})
