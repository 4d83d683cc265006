import { describe, expect, it } from 'vitest'
import { parseBlocks } from './blocks.ts'
import { settleLevels } from './heading-levels.ts'
import { parseInline } from './inline.ts'

const text = (words: string) => ({ type: 'text', text: words })
const paragraph = (words: string) => ({ type: 'paragraph', text: words })

describe('blocks', () => {
  it('reads headings, paragraphs of several lines, rules and quotes', () => {
    expect(parseBlocks('## What\nit is\nand was\n\n---\n> said\n> # so')).toEqual([
      { type: 'heading', level: 2, text: 'What' },
      paragraph('it is\nand was'),
      { type: 'rule' },
      { type: 'quote', blocks: [paragraph('said'), { type: 'heading', level: 1, text: 'so' }] },
    ])
  })

  it('keeps code as it is, also when its end has not come yet', () => {
    expect(parseBlocks('```ts\nconst a = `*b*`\n\n# no heading\n```\nafter')).toEqual([
      { type: 'code', language: 'ts', text: 'const a = `*b*`\n\n# no heading' },
      paragraph('after'),
    ])
    expect(parseBlocks('~~~\nhalf')).toEqual([{ type: 'code', language: '', text: 'half' }])
  })

  it('reads lists within lists, and where a number begins', () => {
    const inner = { type: 'list', isOrdered: false, start: 1, items: [[paragraph('x')], [paragraph('y')]] }
    expect(parseBlocks('3. one\n   - x\n   - y\n\n4. two\n   goes on\n\nend')).toEqual([
      { type: 'list', isOrdered: true, start: 3, items: [[paragraph('one'), inner], [paragraph('two\ngoes on')]] },
      paragraph('end'),
    ])
  })

  it('reads a table, and leaves a bar in a sentence alone', () => {
    expect(parseBlocks('| a | b |\n|---|:-:|\n| 1 | 2 | 3 |\nend')).toEqual([
      { type: 'table', head: ['a', 'b'], rows: [['1', '2']] },
      paragraph('end'),
    ])
    expect(parseBlocks('a | b\nno table')).toEqual([paragraph('a | b\nno table')])
  })

  it('does not grow with depth', () => {
    const deep = `${'>'.repeat(5000)} x`
    expect(JSON.stringify(parseBlocks(deep)).length).toBeLessThan(6000)
    expect(parseBlocks('- '.repeat(5000))).toHaveLength(1)
  })
})

describe('levels of headings', () => {
  const settle = (text: string) =>
    settleLevels(parseBlocks(text), 2).map((block) => (block.type === 'heading' ? block.level : 0))

  it('begin below the page and skip none', () => {
    expect(settle('### a\n##### b\n### c')).toEqual([2, 3, 2])
    expect(settle('#### a\n# b\ntext\n#### c')).toEqual([2, 2, 0, 3])
    expect(settle('# a\n## b\n### c\n#### d\n##### e\n###### f')).toEqual([2, 3, 4, 5, 6, 6])
  })
})

describe('within a line', () => {
  it('reads code, emphasis and what is escaped', () => {
    expect(parseInline('a `b*c*` **d _e_** ~~f~~ \\*g\\*')).toEqual([
      text('a '),
      { type: 'code', text: 'b*c*' },
      text(' '),
      { type: 'strong', children: [text('d '), { type: 'emphasis', children: [text('e')] }] },
      text(' '),
      { type: 'strike', children: [text('f')] },
      text(' *g*'),
    ])
    expect(parseInline('snake_case_name 2 * 3 * 4 **open')).toEqual([text('snake_case_name 2 * 3 * 4 **open')])
  })

  it('leads to https alone', () => {
    expect(parseInline('see https://example.com/a_b.')).toEqual([
      text('see '),
      { type: 'link', href: 'https://example.com/a_b', children: [text('https://example.com/a_b')] },
      text('.'),
    ])
    const refused = [
      'javascript:alert(1)',
      'http://example.com',
      'data:text/html,x',
      '/tasks',
      'https:evil',
      '//evil.example',
    ]
    for (const address of refused) expect(parseInline(`[x](${address})`)).toEqual([text(`[x](${address})`)])
  })

  it('names pictures instead of loading them, and knows no HTML', () => {
    expect(parseInline('![cat](https://example.com/c.png)')).toEqual([
      { type: 'link', href: 'https://example.com/c.png', children: [text('picture: cat')] },
    ])
    expect(parseInline('<img src=x onerror=alert(1)>')).toEqual([text('<img src=x onerror=alert(1)>')])
  })
})
