import { describe, expect, it } from 'vitest'
import type { Memory } from '../../contract/api/memory/memories.ts'
import { chooseMemories, createPromptFit, providedMemories, readSentences } from './prompt-fit.ts'

const memory = (id: string, content: string, tags: string[] = []): Memory => ({
  id,
  namespace: 'default',
  source: 'manual',
  content,
  tags,
  disabled: false,
  deleted: false,
  createdAt: '2026-03-01T12:00:00Z',
  updatedAt: '2026-03-01T12:00:00Z',
  recalledCount: 0,
})

/** As a namespace of 100 memories weighs terms that so many of them have. */
const weigh = (having: Record<string, number>) => (terms: readonly string[]) =>
  new Map(terms.map((term) => [term, Math.log(1 + (100.5 - (having[term] ?? 0)) / ((having[term] ?? 0) + 0.5))]))

function fitOf(prompt: string, having: Record<string, number> = {}) {
  const sentences = readSentences(prompt)
  return createPromptFit(sentences, weigh(having)(sentences.flat()))
}

describe('the memories that a task begins with', () => {
  it('are the best ones, each with the words that it shares with the prompt', () => {
    const found = [memory('a', 'Staging is reset on Mondays', ['database'])]
    expect(chooseMemories(found, fitOf('why was the staging database reset by Ada?'))).toEqual([
      {
        id: 'a',
        text: 'Staging is reset on Mondays',
        tags: ['database'],
        why: 'shares with the prompt: stage, databas, reset (75 % of the weight of its words)',
      },
    ])
  })

  it('are five at most, of which each and all have a limit', () => {
    const long = Array.from({ length: 9 }, (_, at) => memory(`m${at}`, `tulip ${at}`.padEnd(2000, '.')))
    const given = chooseMemories(long, fitOf('tulip'))
    expect(given.map(({ text }) => text.length)).toEqual([1200, 1200, 1200, 1200, 1200])
    expect(given.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThanOrEqual(providedMemories.all)
    expect(chooseMemories([], fitOf('x'))).toEqual([])
  })

  const tulips = memory('a', 'Tulips are planted in November, 17 of them')
  const wrap = (question: string) =>
    `Answer as precisely as you can, and say where you found it. Read the files in the working folder first. ${question}
    Keep the report short: two paragraphs at most, without tables or lists.`
  it.each([
    ['When are the tulips planted?', true],
    [wrap('When are the tulips planted in the garden of the town hall?'), true],
    ['What is 17 * 23?', false],
    [
      'Refactor the login page so that the button is disabled while the request to the tulip endpoint is running',
      false,
    ],
    [wrap('Why does the container exit with code 137 on Mondays?'), false],
    ['', false],
    ['the of and', false],
  ])('fit the prompt %j: %s', (prompt, fits) => {
    expect(fitOf(prompt)(tulips) !== undefined).toBe(fits)
  })

  it('share more than a word that most memories have', () => {
    const often = { tulip: 90 }
    expect(fitOf('tulips of the neighbours', often)(tulips)).toBeUndefined()
    expect(fitOf('tulips planted by the neighbours', often)(tulips)).toMatchObject({ terms: ['tulip', 'plant'] })
  })

  const page = 'The board talked about budgets, rooms and the summer party of the children. '.repeat(30)
  const often = { board: 60, room: 50, children: 50 }
  it.each([
    ['two words far from each other', `Tulips were praised. ${page}Lilies are planted in May.`, false],
    ['two words in one passage', `${page}Tulips are planted in May. ${page}`, true],
    ['one word, said once', `${page}Tulips were praised. ${page}`, false],
    ['one word, said again', `${page}Tulips were praised. ${page}More tulips came.`, true],
  ])('share with one passage of a long text: %s', (_what, content, fits) => {
    const shareOf = fitOf('Who planted the tulips, Ada or Bruno?', { ...often, plant: 12, tulip: 3 })
    expect(shareOf(memory('a', content)) !== undefined).toBe(fits)
  })

  it('share no words that only say how something is asked', () => {
    const minutes = memory('a', 'Ada said something about two rooms and nothing else; the others found it and kept it')
    expect(fitOf('If something else is missing, say what you found instead of guessing, in two lines')(minutes)).toBe(
      undefined,
    )
  })

  it('are cut around the passage that is meant', () => {
    const [given] = chooseMemories([memory('a', `${page}Tulips are planted in May. ${page}`)], fitOf('tulips planted'))
    expect(given?.text).toContain('Tulips are planted in May.')
    expect(given?.text).toHaveLength(providedMemories.each)
  })
})
