import { describe, expect, it } from 'vitest'
import { createOutlines } from './outlines.ts'

const outlines = createOutlines()
const namesOf = async (path: string, text: string) =>
  (await outlines.read(path, text))?.map(({ name, startLine, endLine }) => `${name} ${startLine}-${endLine}`)

describe('the outline of a file', () => {
  it.each([
    [
      'a.py',
      'class Shop:\n    def pay(self):\n        pass\n\nasync def run():\n    pass\n',
      ['Shop 1-3', 'pay 2-3', 'run 5-6'],
    ],
    [
      'a.ts',
      'export class Shop {\n  pay(): void {\n  }\n}\nconst run = async () => {\n}\n',
      ['Shop 1-4', 'pay 2-3', 'run 5-6'],
    ],
    ['a.tsx', 'export function Page() {\n  return <p />\n}\n', ['Page 1-3']],
    ['a.js', 'module.exports.run = function () {\n}\n', ['module.exports.run 1-2']],
    ['a.go', 'package a\n\nfunc (s *Shop) Pay() {\n}\n\ntype Shop struct {\n}\n', ['Pay 3-4', 'Shop 6-7']],
    ['A.java', 'public class A {\n  void pay() {\n  }\n}\n', ['A 1-4', 'pay 2-3']],
    ['a.rb', 'class Shop\n  def pay\n  end\nend\n', ['Shop 1-4', 'pay 2-3']],
    ['a.php', '<?php\nfunction pay() {\n}\n', ['pay 2-3']],
    ['a.rs', 'impl Shop {\n  fn pay() {\n  }\n}\n', ['Shop 1-4', 'pay 2-3']],
    ['a.c', 'int pay(int x) {\n  return x;\n}\n', ['pay 1-3']],
    ['a.cs', 'class Shop {\n  void Pay() {\n  }\n}\n', ['Shop 1-4', 'Pay 2-3']],
  ])('%s names what is declared in it, and where', async (path, text, expected) => {
    expect(await namesOf(path, text)).toEqual(expected)
  })

  it('is none where there is no parser, and what there is of a broken file', async () => {
    expect(await outlines.read('notes.txt', 'x')).toBeUndefined()
    expect(await namesOf('a.py', 'def pay(:\n  ((((\n')).toBeInstanceOf(Array)
    expect(await namesOf('a.js', '('.repeat(20_000))).toBeInstanceOf(Array)
  })
})
