// The command line on a terminal, and what shells complete.
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { waitFor } from '../../fixtures/time.ts'
import {
  environmentOf,
  launcher,
  makeFolder,
  removeFolder,
  runProgram,
  runSvc,
  type Service,
  startService,
  waitForPhase,
} from '../../scenarios/service.ts'

let service: Service
let env: NodeJS.ProcessEnv
beforeAll(async () => {
  service = await startService()
  const programs = join(service.folder, 'bin')
  mkdirSync(programs)
  symlinkSync(launcher, join(programs, 'svc'))
  env = { ...service.env, PATH: `${programs}${delimiter}${service.env.PATH}`, TERM: 'xterm', ZDOTDIR: service.folder }
})
afterAll(async () => {
  await service.stop()
  removeFolder(service.folder)
})

function hasProgram(name: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${name}`])
    return true
  } catch {
    return false
  }
}

/** Runs a command on a terminal of its own. */
const terminalProgram = 'script'

const color = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g')

/** The rows that a terminal of 70 columns would show in the end, more or less: redrawn lines are what they were last. */
function readRows(text: string): string[] {
  return text
    .split('\r\n')
    .map((row) => row.split('\r\u001b[2K').at(-1) ?? '')
    .map((row) => row.replaceAll(color, ''))
}

/** What a command shows on a terminal; `file` gets it at once. */
const onTerminal = async (line: string, given: NodeJS.ProcessEnv = env, file = '/dev/null') =>
  (await runProgram(terminalProgram, ['-qefc', `stty cols 70; ${line}`, file], { env: given })).stdout

// util-linux has it; where it is not, there is no other terminal to be had without a package of machine code.
describe.skipIf(!hasProgram(terminalProgram))('svc on a terminal', () => {
  it('shows progress in place, the log once, and no second copy of the result', async () => {
    const text = await onTerminal("svc run 'write hi to a.txt'")
    expect(text).toContain('\r\u001b[2K')
    const rows = readRows(text)
    expect(rows.filter((row) => row === '1. write hi to a.txt')).toHaveLength(1)
    expect(rows.filter((row) => row.startsWith('[file_write {'))).toHaveLength(1)
    expect(rows.some((row) => row.includes('is running'))).toBe(false)
    expect(rows.at(-2)).toMatch(/^look closer: svc task get run-/)
  })

  it('prints the result when it goes elsewhere', async () => {
    const file = join(service.folder, 'result.txt')
    const rows = readRows(await onTerminal(`svc run 'say elsewhere' > ${file}; cat ${file}`))
    expect(rows.filter((row) => row === '   elsewhere')).toHaveLength(2)
  })

  it('cuts tables where the terminal ends', async () => {
    const rows = readRows(await onTerminal('svc get tools'))
    expect(rows.length).toBeGreaterThan(5)
    for (const row of rows) expect(row.length).toBeLessThanOrEqual(70)
  })

  it('is not driven by what a task wrote', async () => {
    const command = ['printf', 'a\\033[2J\\033]0;owned\\007b\\n']
    await service.call('POST', '/api/v1/tasks', { name: 'rude', type: 'container', command })
    await waitForPhase(service, 'rude', 'Succeeded')
    for (const what of ['result', 'logs', 'logs -f']) {
      const text = await onTerminal(`svc task ${what} rude`)
      expect(text).toContain('a\u241b[2J\u241b]0;owned\u2407b')
      expect(text).not.toContain('\u001b')
    }
    const raw = await runSvc(['task', 'result', 'rude'], env)
    expect(raw.stdout).toBe('a\u001b[2J\u001b]0;owned\u0007b\n')
  })

  it('draws the tree of a task in its place until it has ended', async () => {
    await service.call('POST', '/api/v1/tasks', { name: 'slow', type: 'container', command: ['sleep', '1000'] })
    await waitForPhase(service, 'slow', 'Running')
    const file = join(service.folder, 'tree')
    const shown = onTerminal('svc task tree slow', env, file)
    await waitFor(async () => existsSync(file) && readFileSync(file, 'utf8').includes('Running'), 'the tree')
    await service.call('POST', '/api/v1/tasks/slow/cancel', {})
    const text = await shown
    const drawn = text.split('\u001b[J').slice(1)
    expect(drawn.length).toBeGreaterThan(1)
    expect(drawn.slice(0, -1).join('')).toContain('\u001b[2A')
    expect(readRows(drawn.at(-1) ?? '').filter(Boolean)).toEqual([
      expect.stringMatching(/^NAME +AGENT +PHASE/),
      expect.stringMatching(/^slow +Cancelled/),
    ])
  })

  it('obeys NO_COLOR', async () => {
    const text = await onTerminal("svc run 'say plain'", { ...env, NO_COLOR: '1' })
    expect(text).not.toMatch(color)
  })

  it('gets the token of a new service once, and never in the log [MODE-004]', async () => {
    const folder = makeFolder()
    const up = async () => {
      const command = `exec ${process.execPath} ${launcher} up --port 0`
      const child = spawn(terminalProgram, ['-qec', command, '/dev/null'], {
        env: { ...environmentOf(folder), TERM: 'xterm' },
      })
      let text = ''
      child.stdout.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      await waitFor(() => text.includes('serving'), 'the banner')
      const ended = new Promise((resolve) => child.once('close', resolve))
      await runSvc(['down'], environmentOf(folder))
      await ended
      return text
    }
    const [first, second] = [await up(), await up()]
    const [, token = ''] = /token: +(svc_\w+)/.exec(first) ?? []
    expect(token).toMatch(/^svc_[0-9a-f]{64}$/)
    expect(first.split(token)).toHaveLength(2)
    expect(first).toContain('svc serves at http://127.0.0.1:')
    expect(second).not.toContain(token)
    expect(second).toContain('kept in')
    removeFolder(folder)
  })
})

describe('completion', () => {
  const askRaw = async (shell: string, script: string) => {
    const outcome = await runProgram(shell, ['-c', script], { env })
    expect(outcome.stderr).toBe('')
    return outcome.stdout
  }
  const listLines = (text: string) => text.split('\n').filter(Boolean)
  const ask = async (shell: string, script: string) => listLines(await askRaw(shell, script))

  beforeAll(async () => {
    await service.call('POST', '/api/v1/agents', { name: 'known', spec: { systemPrompt: { inline: 'hi' } } })
  })

  /** What is offered for the last word of each line. */
  const bash = async (lines: string[][]) => {
    const each = lines.map(
      (words) => `COMP_WORDS=(svc ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}
       COMPREPLY=(); _svc svc; printf '%s\\n' "\${COMPREPLY[@]}"; echo --`,
    )
    const script = `source <(svc completion bash); complete -p svc >/dev/null || exit 1\n${each.join('\n')}`
    return (await askRaw('bash', script)).split('--\n').slice(0, -1).map(listLines)
  }

  it('in bash knows commands, options, values and the names that are there', async () => {
    const expected: [string[], string[]][] = [
      [['ta'], ['task']],
      [
        ['-n', 'default', 'task', 'l'],
        ['list', 'logs'],
      ],
      [
        ['-o', ''],
        ['table', 'wide', 'json', 'yaml', 'name'],
      ],
      [['run', '--agent', 'k'], ['known']],
      [['get', 'agents', ''], ['known']],
      [['apply', '-f', ''], []],
    ]
    expect(await bash(expected.map(([words]) => words))).toEqual(expected.map(([, offered]) => offered))
  })

  it.skipIf(!hasProgram('zsh'))('in zsh as well', async () => {
    const script = `autoload -U compinit; compinit -u -D; source <(svc completion zsh)
      compadd() { print -l -- "\${(@P)2}" }; _files() { print files }
      words=(svc task l); CURRENT=3; _svc; words=(svc apply -f ''); CURRENT=4; _svc`
    expect(await ask('zsh', script)).toEqual(['list', 'logs', 'files'])
  })

  it.skipIf(!hasProgram('fish'))('in fish as well', async () => {
    const script = "svc completion fish | source; complete -C 'svc task l'; complete -C 'svc get agent kn'"
    expect(await ask('fish', script)).toEqual(['list', 'logs', 'known'])
  })
})
