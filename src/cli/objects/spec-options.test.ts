import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import type { CliContext } from '../context.ts'
import {
  addChangingOptions,
  addMakingOptions,
  fillSpec,
  readEach,
  requireSome,
  type SpecOption,
} from './spec-options.ts'

const options: SpecOption[] = [
  { flags: '--type <type>', description: 'its type', path: 'type', isRequired: true },
  { flags: '--model <name>', description: 'its model', path: 'model.name' },
  {
    flags: '--tool <name>',
    description: 'a tool',
    path: 'tools',
    isRepeated: true,
    read: readEach((name) => ({ name })),
  },
]
const context = {} as CliContext
const parse = (add: typeof addMakingOptions, args: string[]) =>
  add(new Command('thing').exitOverride().configureOutput({ writeErr: () => {} }), options).parse(args, {
    from: 'user',
  })
const fill = (spec: object, ...args: string[]) =>
  fillSpec({ ...spec }, options, { flags: parse(addChangingOptions, args).opts(), context })

describe('options of a spec', () => {
  it('change only what is given, also inside nested fields', async () => {
    const before = { type: 'a', model: { name: 'x', temperature: 1 }, tools: [{ name: 'old' }] }
    expect(await fill(before)).toEqual(before)
    expect(await fill(before, '--model', 'y')).toEqual({ ...before, model: { name: 'y', temperature: 1 } })
    expect(await fill(before, '--tool', 'a', '--tool', 'b')).toEqual({
      ...before,
      tools: [{ name: 'a' }, { name: 'b' }],
    })
    expect(await fill({}, '--model', 'y')).toEqual({ model: { name: 'y' } })
  })

  it('remove a field that is given as an empty text', async () => {
    expect(await fill({ type: 'a', model: { name: 'x', temperature: 1 } }, '--model', '')).toEqual({
      type: 'a',
      model: { temperature: 1 },
    })
  })

  it('require mandatory fields only when an object is created', () => {
    expect(() => parse(addMakingOptions, ['--model', 'y'])).toThrow(/--type/)
    expect(() => parse(addChangingOptions, ['--model', 'y'])).not.toThrow()
  })

  it('list what can be changed when none is given', () => {
    const flags = options.map((option) => option.flags)
    expect(() => requireSome(parse(addChangingOptions, []).opts(), flags, 'thing')).toThrow(/--type/)
    expect(() => requireSome(parse(addChangingOptions, ['--model', '']).opts(), flags, 'thing')).not.toThrow()
  })
})
