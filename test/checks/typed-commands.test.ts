// Hints name a command as the person who reads them can type it, so no text spells one with the program's name.
import { parseSync, Visitor } from 'oxc-parser'
import { describe, expect, it } from 'vitest'
import { createProgram } from '../../src/cli/program.ts'
import { recordContext } from '../fixtures/cli/recording-context.ts'
import { listFiles, readSource } from './source-tree.ts'

/** What is not a hint: scripts that complete the word `svc`, and names that keys are derived for. */
const others = [/^complete -o default -F _svc svc$/m, /^complete -c svc -f /m, /^svc agent tokens$/, /^svc \{\}$/]

/** Texts of string literals and templates, with `{}` for what is put in. */
function listTexts(path: string): string[] {
  const texts: string[] = []
  new Visitor({
    Literal: (node) => void (typeof node.value === 'string' && texts.push(node.value)),
    TemplateLiteral: (node) => void texts.push(node.quasis.map((quasi) => quasi.value.cooked ?? '').join('{}')),
  }).visit(parseSync(path, readSource(path)).program)
  return texts
}

async function listCommandWords(): Promise<string[]> {
  const { commands } = await createProgram([], recordContext().context)
  return commands.flatMap((command) => [command.name(), ...command.aliases()])
}

function findSpelled(texts: string[], words: string[]): string[] {
  const spelled = new RegExp(`(?<![\\w./-])svc ((?:${words.join('|')})(?!\\w)|-{1,2}[a-z]|\\{\\})`)
  return texts.filter((text) => spelled.test(text) && !others.some((other) => other.test(text)))
}

describe('hints', () => {
  it('never spell a command by hand', async () => {
    const words = await listCommandWords()
    const sources = listFiles('src', ['.ts']).filter((path) => !path.endsWith('.test.ts'))
    const mentioning = sources.filter((path) => readSource(path).includes('svc '))
    const found = mentioning.flatMap((path) => findSpelled(listTexts(path), words).map((text) => `${path}: ${text}`))
    expect(found).toEqual([])
  })

  it('are distinguished from texts that only mention the program', async () => {
    const words = await listCommandWords()
    const hints = ['type `svc task list`', 'npx svc up', 'svc --help', 'svc {}chat', 'svc -n team get all']
    expect(findSpelled(hints, words)).toEqual(hints)
    expect(findSpelled(['svc serves at {}', 'svc:tasks:create', '/run/svc run', 'svc'], words)).toEqual([])
  })
})
