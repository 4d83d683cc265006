// What stands within a line of Markdown: code, emphasis, links. Links go to https alone; pictures are named, never loaded.

export type Inline =
  | { type: 'text'; text: string }
  | { type: 'code'; text: string }
  | { type: 'strong' | 'emphasis' | 'strike'; children: Inline[] }
  | { type: 'link'; href: string; children: Inline[] }
  | { type: 'break' }

/** Emphasis and links within each other; what lies deeper is text. */
const mostDepth = 6

type Reader = { text: string; at: number; depth: number; closes: Map<string, number> }

export function parseInline(text: string): Inline[] {
  return read(text, 0)
}

function read(text: string, depth: number): Inline[] {
  const reader: Reader = { text, at: 0, depth, closes: new Map() }
  const parts: Inline[] = []
  let plain = ''
  while (reader.at < text.length) {
    const found = readSpecial(reader)
    if (found === undefined) {
      const next = findSpecial(text, reader.at + 1)
      plain += text.slice(reader.at, next)
      reader.at = next
    } else if (found.type === 'text') plain += found.text
    else {
      if (plain !== '') parts.push({ type: 'text', text: plain })
      plain = ''
      parts.push(found)
    }
  }
  if (plain !== '') parts.push({ type: 'text', text: plain })
  return parts
}

const special = /[\\`![*_~\n]|https:/g

function findSpecial(text: string, from: number): number {
  special.lastIndex = from
  return special.exec(text)?.index ?? text.length
}

const readers: Record<string, (reader: Reader) => Inline | undefined> = {
  '\\': readEscape,
  '`': readCode,
  '!': readPicture,
  '[': readLink,
  h: readAddress,
  '*': readEmphasis,
  _: readEmphasis,
  '~': readEmphasis,
  '\n': (reader) => {
    reader.at += 1
    return { type: 'break' }
  },
}

function readSpecial(reader: Reader): Inline | undefined {
  return readers[reader.text.charAt(reader.at)]?.(reader)
}

/** Matches at the place of the reader, and goes on behind it. */
function take(reader: Reader, pattern: RegExp): RegExpExecArray | undefined {
  pattern.lastIndex = reader.at
  const found = pattern.exec(reader.text)
  if (found === null) return undefined
  reader.at += found[0].length
  return found
}

function readEscape(reader: Reader): Inline | undefined {
  const found = take(reader, /\\([\\`*_{}[\]()#+\-.!~|>])/y)
  return found && { type: 'text', text: found[1] ?? '' }
}

/** Where the mark comes next, -1 where it does not; each stretch is searched once, as places only grow. */
function findClose({ text, closes }: Reader, mark: string, from: number): number {
  const known = closes.get(mark)
  if (known !== undefined && (known < 0 || known >= from)) return known
  const at = text.indexOf(mark, from)
  closes.set(mark, at)
  return at
}

function readCode(reader: Reader): Inline | undefined {
  const [ticks = ''] = /^`+/.exec(reader.text.slice(reader.at, reader.at + 8)) ?? []
  const begin = reader.at + ticks.length
  const end = findClose(reader, ticks, begin)
  if (end <= begin) return undefined
  reader.at = end + ticks.length
  const code = reader.text.slice(begin, end)
  return {
    type: 'code',
    text: code.length > 2 && code.startsWith(' ') && code.endsWith(' ') ? code.slice(1, -1) : code,
  }
}

/** Only https: nothing else leads out of the page. */
function safeAddress(address: string): string | undefined {
  if (!address.toLowerCase().startsWith('https://')) return undefined
  return URL.canParse(address) ? new URL(address).href : undefined
}

function linkTo(address: string, children: Inline[], otherwise: string): Inline {
  const href = safeAddress(address)
  return href === undefined ? { type: 'text', text: otherwise } : { type: 'link', href, children }
}

function readPicture(reader: Reader): Inline | undefined {
  const found = take(reader, /!\[([^\]\n]{0,300})\]\(\s{0,9}([^\s)]{1,2000})(?:[ \t][^)\n]{0,300})?\)/y)
  if (found === undefined) return undefined
  const [whole, name = '', address = ''] = found
  return linkTo(address, [{ type: 'text', text: name === '' ? 'picture' : `picture: ${name}` }], whole)
}

function readLink(reader: Reader): Inline | undefined {
  if (findClose(reader, '](', reader.at) < 0) return undefined
  const found = take(reader, /\[([^\]\n]{1,500})\]\(\s{0,9}([^\s)]{1,2000})(?:[ \t]+"[^"\n]{0,300}")?\s{0,9}\)/y)
  if (found === undefined) return undefined
  const [whole, words = '', address = ''] = found
  return linkTo(address, within(reader, words), whole)
}

function readAddress(reader: Reader): Inline | undefined {
  if (/[A-Za-z0-9]/.test(reader.text.charAt(reader.at - 1))) return undefined
  const found = take(reader, /https:\/\/[^\s<>"'`)\]}*]{1,2000}/y)
  if (found === undefined) return undefined
  const [whole] = found
  const address = whole.replace(/[.,;:!?]{1,9}$/, '')
  reader.at -= whole.length - address.length
  return linkTo(address, [{ type: 'text', text: address }], address)
}

function within(reader: Reader, text: string): Inline[] {
  return reader.depth < mostDepth ? read(text, reader.depth + 1) : [{ type: 'text', text }]
}

const emphases = { '**': 'strong', __: 'strong', '~~': 'strike', '*': 'emphasis', _: 'emphasis' } as const

function isWord(character: string): boolean {
  return /[\p{L}\p{N}]/u.test(character)
}

/** A mark opens before something that is no blank; `_` not within a word, so that names keep theirs. */
function readEmphasis(reader: Reader): Inline | undefined {
  const { text, at } = reader
  const double = text.slice(at, at + 2)
  const mark = (double in emphases ? double : text.charAt(at)) as keyof typeof emphases
  if (!(mark in emphases)) return undefined
  const begin = at + mark.length
  if (/^\s?$/.test(text.charAt(begin)) || (mark.startsWith('_') && isWord(text.charAt(at - 1)))) return undefined
  const end = findClose(reader, mark, begin + 1)
  if (end < 0 || /\s/.test(text.charAt(end - 1))) return undefined
  if (mark.startsWith('_') && isWord(text.charAt(end + mark.length))) return undefined
  reader.at = end + mark.length
  return { type: emphases[mark], children: within(reader, text.slice(begin, end)) }
}
