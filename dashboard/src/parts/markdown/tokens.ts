// Markdown of others as plain data: read by a library, made safe here. No HTML is known, links go to https alone, pictures are named and
// never loaded, and what was made to be slow to read stays text.
import { Lexer, type MarkedToken, type Token, type Tokens } from 'marked'

export type Inline =
  | { type: 'text'; text: string }
  | { type: 'code'; text: string }
  | { type: 'strong' | 'emphasis' | 'strike'; children: Inline[] }
  | { type: 'link'; href: string; children: Inline[] }
  | { type: 'break' }

export type Block =
  | { type: 'paragraph'; children: Inline[] }
  | { type: 'heading'; level: number; children: Inline[] }
  | { type: 'code'; language: string; text: string }
  | { type: 'list'; isOrdered: boolean; start: number; items: Item[] }
  | { type: 'quote'; blocks: Block[] }
  | { type: 'table'; head: Inline[][]; rows: Inline[][][] }
  | { type: 'rule' }

export type Item = {
  blocks: Block[]
  /** Of a task list. */
  isDone?: boolean
}

/** Marks within one paragraph: the time that the library takes grows with their number times its length. */
const mostMarks = 300
/** Lists and quotes within each other on one line: each is read again with what lies in it. */
const mostDepth = 12

function countMarks(text: string): number {
  return text.match(/[*_~`[\]<!\\]|https?:|www\./g)?.length ?? 0
}

/** The library's reader, which leaves alone what nobody writes by hand. */
class CarefulLexer extends Lexer {
  override inlineTokens(source: string, tokens: Token[] = []): Token[] {
    if (countMarks(source) <= mostMarks) return super.inlineTokens(source, tokens)
    tokens.push({ type: 'text', raw: source, text: source })
    return tokens
  }
}

function depthOf(line: string): number {
  const markers = /^(?:[ \t]{0,3}(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))[ \t]?)/
  let depth = 0
  let rest = line.slice(0, 400).trimStart()
  while (depth <= mostDepth && markers.test(rest)) {
    rest = rest.replace(markers, '').trimStart()
    depth += 1
  }
  return depth
}

/** One paragraph, as it is written, where it nests deeper than anybody reads. */
export function readMarkdown(text: string): Block[] {
  const isDeep = text.split('\n').some((line) => depthOf(line) > mostDepth)
  if (isDeep) return [{ type: 'paragraph', children: [{ type: 'text', text }] }]
  return blocksOf(new CarefulLexer({ gfm: true, breaks: true }).lex(text))
}

function blocksOf(tokens: readonly Token[]): Block[] {
  return tokens.flatMap((token) => blockOf(token as MarkedToken))
}

function blockOf(token: MarkedToken): Block[] {
  switch (token.type) {
    case 'heading':
      return [{ type: 'heading', level: token.depth, children: inlineOf(token.tokens) }]
    case 'code':
      return [{ type: 'code', language: /^[\w+#.-]{0,40}/.exec(token.lang ?? '')?.[0] ?? '', text: token.text }]
    case 'list':
      return [listOf(token)]
    case 'blockquote':
      return [{ type: 'quote', blocks: blocksOf(token.tokens ?? []) }]
    case 'table':
      return [tableOf(token)]
    case 'hr':
      return [{ type: 'rule' }]
    case 'paragraph':
      return [{ type: 'paragraph', children: inlineOf(token.tokens) }]
    case 'text':
      return [{ type: 'paragraph', children: inlineOf(token.tokens ?? [token]) }]
    case 'space':
    case 'checkbox':
      return []
    default:
      return [{ type: 'paragraph', children: [{ type: 'text', text: token.raw.trimEnd() }] }]
  }
}

function listOf({ ordered, start, items }: Tokens.List): Block {
  const read = ({ task, checked, tokens }: Tokens.ListItem): Item => ({
    blocks: blocksOf(tokens),
    ...(task && { isDone: checked === true }),
  })
  return { type: 'list', isOrdered: ordered, start: start === '' ? 1 : start, items: items.map(read) }
}

function tableOf({ header, rows }: Tokens.Table): Block {
  const read = (cells: Tokens.TableCell[]) => cells.map(({ tokens }) => inlineOf(tokens))
  return { type: 'table', head: read(header), rows: rows.map(read) }
}

/** Neighbouring texts are one: an escape is a token of its own. */
function inlineOf(tokens: readonly Token[] = []): Inline[] {
  const parts: Inline[] = []
  for (const part of tokens.flatMap((token) => partOf(token as MarkedToken))) {
    const last = parts.at(-1)
    if (part.type === 'text' && last?.type === 'text')
      parts[parts.length - 1] = { type: 'text', text: last.text + part.text }
    else parts.push(part)
  }
  return parts
}

const emphases = { strong: 'strong', em: 'emphasis', del: 'strike' } as const

function partOf(token: MarkedToken): Inline[] {
  switch (token.type) {
    case 'codespan':
      return [{ type: 'code', text: token.text }]
    case 'strong':
    case 'em':
    case 'del':
      return [{ type: emphases[token.type], children: inlineOf(token.tokens) }]
    case 'br':
      return [{ type: 'break' }]
    case 'link':
      return linkTo(token.href, inlineOf(token.tokens), token.raw)
    case 'image':
      return linkTo(
        token.href,
        [{ type: 'text', text: token.text === '' ? 'picture' : `picture: ${token.text}` }],
        token.raw,
      )
    case 'text':
      return token.tokens === undefined ? [{ type: 'text', text: decode(token.text) }] : inlineOf(token.tokens)
    case 'escape':
      return [{ type: 'text', text: token.text }]
    case 'checkbox':
      return []
    default:
      return [{ type: 'text', text: token.raw }]
  }
}

/** Only https: nothing else leads out of the page. */
function linkTo(address: string, children: Inline[], otherwise: string): Inline[] {
  const isSafe = address.toLowerCase().startsWith('https://') && URL.canParse(address)
  return [isSafe ? { type: 'link', href: new URL(address).href, children } : { type: 'text', text: otherwise }]
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: '\u00a0' }

function decode(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => entities[name] ?? '')
}
