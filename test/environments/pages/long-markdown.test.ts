// Markdown that was made to be slow to read: a page at work for minutes cannot even be closed.
import { Worker } from 'node:worker_threads'
import { expect, it, onTestFinished } from 'vitest'

const marks = [
  '*',
  '_',
  '`',
  '[',
  '![',
  '**',
  '[a](',
  'https://',
  '~~',
  '![a](x',
  '![](x y',
  '[a](x',
  '[a] ',
  '_a',
  '*a',
  'a_',
  '<',
  '<a ',
  '- ',
  '> ',
  '1. ',
  '* a\n',
  '| a ',
  '[a]: x\n',
]

/** How many parts each text has; in a thread of its own, as a test that is at work for ever does not notice. */
async function countParts(texts: string[]): Promise<number[]> {
  const path = JSON.stringify(new URL('../../../dashboard/src/parts/markdown/tokens.ts', import.meta.url).href)
  const code = `const { workerData, parentPort } = require('node:worker_threads')
    import(${path}).then(({ readMarkdown }) => parentPort.postMessage(workerData.map((text) => readMarkdown(text).length)))`
  const thread = new Worker(code, { eval: true, workerData: texts })
  onTestFinished(async () => void (await thread.terminate()))
  return new Promise((resolve, reject) => thread.once('message', resolve).once('error', reject))
}

it('40,000 characters of any mark are read at once, whatever comes at their end', async () => {
  const long = marks.map((mark) => mark.repeat(Math.ceil(40_000 / mark.length)))
  const counts = await countParts(long.flatMap((text) => [text, `${text}](x)`]))
  expect(counts.filter((count) => count > 0)).toHaveLength(2 * marks.length)
}, 30_000)
