import { describe, expect, it } from 'vitest'
import { settleLevels } from './heading-levels.ts'
import { type Block, type Inline, readMarkdown } from './tokens.ts'

const text = (words: string): Inline => ({ type: 'text', text: words })
const paragraph = (words: string) => ({ type: 'paragraph', children: [text(words)] })
const inline = (words: string): Inline[] => {
  const [block] = readMarkdown(words)
  return block?.type === 'paragraph' ? block.children : []
}

describe('blocks', () => {
  it('reads headings, paragraphs of several lines, rules and quotes', () => {
    expect(readMarkdown('## What\nit is\nand was\n\n---\n> said\n> # so')).toEqual([
      { type: 'heading', level: 2, children: [text('What')] },
      { type: 'paragraph', children: [text('it is'), { type: 'break' }, text('and was')] },
      { type: 'rule' },
      { type: 'quote', blocks: [paragraph('said'), { type: 'heading', level: 1, children: [text('so')] }] },
    ])
  })

  it('keeps code as it is, also when its end has not come yet', () => {
    expect(readMarkdown('```ts\nconst a = `*b*`\n\n# no heading\n```\nafter')).toEqual([
      { type: 'code', language: 'ts', text: 'const a = `*b*`\n\n# no heading' },
      paragraph('after'),
    ])
    expect(readMarkdown('~~~\nhalf')).toEqual([{ type: 'code', language: '', text: 'half' }])
  })

  it('reads lists within lists, where a number begins, and lists of what is to be done', () => {
    const item = (words: string, more: Block[] = []) => ({ blocks: [paragraph(words), ...more] })
    const inner: Block = { type: 'list', isOrdered: false, start: 1, items: [item('x'), item('y')] as never }
    expect(readMarkdown('3. one\n   - x\n   - y\n4. two\n\nend')).toEqual([
      { type: 'list', isOrdered: true, start: 3, items: [item('one', [inner]), item('two')] },
      paragraph('end'),
    ])
    expect(readMarkdown('- [x] tests\n- [ ] docs')).toEqual([
      {
        type: 'list',
        isOrdered: false,
        start: 1,
        items: [
          { ...item('tests'), isDone: true },
          { ...item('docs'), isDone: false },
        ],
      },
    ])
  })

  it('reads a table, and leaves a bar in a sentence alone', () => {
    expect(readMarkdown('| a | b |\n|---|:-:|\n| 1 | 2 | 3 |\n\nend')).toEqual([
      { type: 'table', head: [[text('a')], [text('b')]], rows: [[[text('1')], [text('2')]]] },
      paragraph('end'),
    ])
    expect(inline('a | b')).toEqual([text('a | b')])
  })

  it('leaves as text what nests deeper than anybody reads', () => {
    for (const deep of [`${'>'.repeat(5000)} x`, '- '.repeat(5000), '1. '.repeat(5000)])
      expect(readMarkdown(deep)).toEqual([paragraph(deep)])
  })
})

describe('levels of headings', () => {
  const settle = (words: string) =>
    settleLevels(readMarkdown(words), 2).map((block) => (block.type === 'heading' ? block.level : 0))

  it('begin below the page and skip none', () => {
    expect(settle('### a\n##### b\n### c')).toEqual([2, 3, 2])
    expect(settle('#### a\n# b\ntext\n#### c')).toEqual([2, 2, 0, 3])
    expect(settle('# a\n## b\n### c\n#### d\n##### e\n###### f')).toEqual([2, 3, 4, 5, 6, 6])
  })
})

describe('within a line', () => {
  it('reads code, emphasis and what is escaped', () => {
    expect(inline('a `b*c*` **d _e_** ~~f~~ \\*g\\* &lt;h&gt;')).toEqual([
      text('a '),
      { type: 'code', text: 'b*c*' },
      text(' '),
      { type: 'strong', children: [text('d '), { type: 'emphasis', children: [text('e')] }] },
      text(' '),
      { type: 'strike', children: [text('f')] },
      text(' *g* <h>'),
    ])
    expect(inline('snake_case_name 2 * 3 * 4 **open')).toEqual([text('snake_case_name 2 * 3 * 4 **open')])
  })

  it('leads to https alone', () => {
    expect(inline('see https://example.com/a_b.')).toEqual([
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
    for (const address of refused) expect(inline(`[x](${address})`)).toEqual([text(`[x](${address})`)])
  })

  it('names pictures instead of loading them, and knows no HTML', () => {
    expect(inline('![cat](https://example.com/c.png)')).toEqual([
      { type: 'link', href: 'https://example.com/c.png', children: [text('picture: cat')] },
    ])
    for (const html of ['<img src=x onerror=alert(1)>', '<script>alert(1)</script>', 'a <b>c</b>'])
      expect(readMarkdown(html)).toEqual([paragraph(html)])
  })
})
