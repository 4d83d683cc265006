import { describe, expect, it } from 'vitest'
import { fillTemplate } from './json-path.ts'

const list = {
  items: [
    { metadata: { name: 'a', labels: { 'example.com/team': 'x' } }, spec: { args: ['one', 'two'], size: 1 } },
    { metadata: { name: 'b' }, spec: { on: false } },
  ],
}

describe('a jsonpath template', () => {
  it.each([
    ['{.items[*].metadata.name}', 'a b'],
    ['.items[*].metadata.name', 'a b'],
    ['{$.items[0].metadata.name}', 'a'],
    ['{.items[-1].metadata.name}', 'b'],
    ['{.items[0].metadata.labels.example\\.com/team}', 'x'],
    ["{.items[0].metadata.labels['example.com/team']}", 'x'],
    ['{.items[0].spec.args[*]}', 'one two'],
    ['{.items[*].spec.args[1]}', 'two'],
    ['{.items[0].metadata.labels.*}', 'x'],
    ['{.items[0].spec.args}', '["one","two"]'],
    ['{.items[0].spec.size} {.items[1].spec.on}', '1 false'],
    ['name: {.items[0].metadata.name}{"\\t}\\n"}end', 'name: a\t}\nend'],
    ['{.items[7].metadata.name}{.nothing.there}', ''],
    ['{.items[0].constructor}{.items.length}', ''],
  ])('%s gives %j', (template, text) => {
    expect(fillTemplate(template, list)).toBe(text)
  })

  it('for the whole object gives JSON', () => {
    expect(JSON.parse(fillTemplate('{.}', list))).toEqual(list)
    expect(JSON.parse(fillTemplate('{$}', list))).toEqual(list)
  })

  it.each([
    ['{range .items[*]}'],
    ['{.items[?(@.a==1)]}'],
    ['{..name}'],
    ['{.items[0:2]}'],
    ['{.a'],
    ['a}'],
    ['{}'],
    [''],
    ['{.a.}'],
    ['{"\\x"}'],
  ])('%j is refused with the supported syntax', (template) => {
    expect(() => fillTemplate(template, list)).toThrow(/cannot be read; there are paths such as/)
  })
})
