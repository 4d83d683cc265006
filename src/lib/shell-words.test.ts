import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { quoteWord, quoteWords } from './shell-words.ts'

it.each(['a', 'a/b.c', 'user@host:1,2', 'x=50%', 'a_b-c+d'])('leaves %j as it is', (word) => {
  expect(quoteWord(word)).toBe(word)
})

it('quotes what a shell would take apart, expand or take for an option', () => {
  expect(['', 'a b', "it's", '-rf', '~', '*'].map(quoteWord)).toEqual([
    "''",
    "'a b'",
    "'it'\\''s'",
    "'-rf'",
    "'~'",
    "'*'",
  ])
})

it('comes out of a shell as it went in', () => {
  const words = ['', 'a b', "it's", '$HOME', '`id`', '"', '\\', 'a\nb', '!x', ';', '#', '世界', "''"]
  const printed = execFileSync('sh', ['-c', `printf '%s\\0' ${quoteWords(words)}`], { encoding: 'utf8' })
  expect(printed.split('\0').slice(0, -1)).toEqual(words)
})
