import { expect, it } from 'vitest'
import { recordContext } from '../../../../test/fixtures/cli/recording-context.ts'
import { runCommandLine } from '../../program.ts'

const version = (number: number, content: object) => ({
  number,
  since: '2029-12-31T23:50:00Z',
  generation: number,
  content,
})
const items = [
  version(3, { prompt: 'Be brief.\nBe kind.', model: { name: 'large' }, tools: ['web_fetch'] }),
  version(2, { prompt: 'Be brief.\nBe exact.', model: { name: 'large' } }),
  version(1, { prompt: 'Be brief.\nBe exact.', model: { name: 'small' } }),
]

async function run(line: string[], found: object[] = items) {
  const recording = recordContext({
    answers: { 'GET /api/v1/agents/:name/versions': { items: found, metadata: {} } },
  })
  const code = await runCommandLine(['agent', 'versions', 'writer', ...line], recording.context)
  return { code, printed: recording.printed(), noted: recording.noted() }
}

it('lists the versions, with what became different in each', async () => {
  const { printed } = await run([])
  expect(printed.split('\n').map((line) => line.replace(/ {2,}/g, '  '))).toEqual([
    'NUMBER  AGE  MODEL  CHANGED  PROMPT',
    expect.stringMatching(/^3 {2}10m {2}large {2}prompt,tools {2}Be brief\./),
    expect.stringMatching(/^2 {2}10m {2}large {2}model {2}Be brief\./),
    expect.stringMatching(/^1 {2}10m {2}small {2}Be brief\./),
    '',
  ])
  expect(JSON.parse((await run(['-o', 'json'])).printed)).toEqual(items)
  expect((await run([], [])).noted).toContain('no version of writer is known yet')
})

it('says what is different from the one before, or between two', async () => {
  expect((await run(['--diff'])).printed.split('\n')).toEqual([
    ...['--- version 2', '+++ version 3', '@@ -1,5 +1,7 @@'],
    ...[' model:', '   name: large', '+tools:', '+  - web_fetch', ' ---', ' Be brief.', '-Be exact.', '+Be kind.', ''],
  ])
  expect((await run(['--diff', '2'])).printed).toContain('-  name: small\n+  name: large\n ---\n')
  expect((await run(['--diff', '3..1'])).printed).toContain('-Be kind.\n+Be exact.\n')
  const bare = [version(2, { prompt: 'b' }), version(1, { prompt: 'a' })]
  expect((await run(['--diff'], bare)).printed).toContain(' ---\n-a\n+b\n')
  expect((await run(['--diff', '1..1'])).noted).toContain('versions 1 and 1 are the same')
  expect(JSON.parse((await run(['--diff', '1..2', '-o', 'json'])).printed)).toMatchObject({ from: 1, to: 2 })
})

it.each([['1'], ['2..7'], ['x']])('refuses numbers that there are not: %s', async (numbers) => {
  const { code, noted } = await run(['--diff', numbers])
  expect([code, noted]).toEqual([
    2,
    expect.stringMatching(/--diff needs two versions of writer, .* there are: 3, 2, 1/),
  ])
})
