import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createToolShell } from './tool-shell.ts'

const readText = (path: string) => readFileSync(path, 'utf8').trim()

describe.runIf(process.platform === 'linux')('tools of the system', () => {
  const tools = createToolShell()

  it('are run with exactly their words, several at the same time', async () => {
    const odd = [`it's`, '$(id)', '`id`', '"', '\\', 'a\nb', '']
    const compare = 'test "$#" = 7 && test "$1$2" = "it\'s\\$(id)" && test "$6" = "$(printf "a\\nb")"'
    const runs = Array.from({ length: 5 }, () => tools.run('sh', ['-c', compare, 'sh', ...odd]))
    await Promise.all([...runs, tools.run('true', [])])
  })

  it('that fail say why in one line', async () => {
    await expect(tools.run('sh', ['-c', 'echo first >&2; echo second >&2; exit 3'])).rejects.toThrow(/^sh: first$/)
    await expect(tools.run('false', [])).rejects.toThrow('false: it ended with status 1')
    await expect(tools.run('no-such-tool', [])).rejects.toThrow('no-such-tool: it is not installed')
  })

  it('whose shell was ended fail, and the next one runs', async () => {
    const others = new Set(readText(`/proc/self/task/${process.pid}/children`).split(' '))
    const own = createToolShell()
    const long = own.run('sleep', ['60'])
    const shell = readText(`/proc/self/task/${process.pid}/children`)
      .split(' ')
      .find((pid) => !others.has(pid))
    process.kill(Number(shell), 'SIGKILL')
    await expect(long).rejects.toThrow('sleep: the shell that runs tools was ended')
    await own.run('true', [])
  })
})
