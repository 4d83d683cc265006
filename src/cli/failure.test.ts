import { expect, it } from 'vitest'
import { recordContext } from '../../test/fixtures/cli/recording-context.ts'
import { reportFailure } from './failure.ts'

it('an error of the system about a file, which nobody has explained, is said in plain words with its path', () => {
  const { context, noted } = recordContext()
  const cause = Object.assign(new Error("ENOTDIR: not a directory, open '/x/a'"), { code: 'ENOTDIR', path: '/x/a' })
  expect(reportFailure(cause, context.terminal)).toBe(1)
  expect(noted()).toBe('error: /x/a: a part of the path is not a folder\n')
})
