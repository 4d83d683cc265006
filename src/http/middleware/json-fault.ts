// Finds where a JSON text is broken, for the message of the 400; V8 does not always say.

const blank = /[ \t\n\r]*/y
const token =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 8259 section 7 forbids them inside strings
  /[{}[\],:]|"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

type Expectation = 'value' | 'valueOrEnd' | 'key' | 'keyOrEnd' | 'colon' | 'commaOrEnd' | 'nothing'

type State = { expects: Expectation; closers: string[] }

function afterValue(state: State): boolean {
  state.expects = state.closers.length === 0 ? 'nothing' : 'commaOrEnd'
  return true
}

function openContainer(state: State, text: string): boolean {
  state.closers.push(text === '{' ? '}' : ']')
  state.expects = text === '{' ? 'keyOrEnd' : 'valueOrEnd'
  return true
}

function closeContainer(state: State, text: string): boolean {
  if (state.closers.pop() !== text) return false
  return afterValue(state)
}

function takeValue(state: State, text: string): boolean {
  if (text === '{' || text === '[') return openContainer(state, text)
  if (text === ']' && state.expects === 'valueOrEnd') return closeContainer(state, text)
  if (/^[}\],:]$/.test(text)) return false
  return afterValue(state)
}

function takeKey(state: State, text: string): boolean {
  if (text === '}' && state.expects === 'keyOrEnd') return closeContainer(state, text)
  if (!text.startsWith('"')) return false
  state.expects = 'colon'
  return true
}

function takeSeparator(state: State, text: string): boolean {
  if (text !== ',') return closeContainer(state, text)
  state.expects = state.closers.at(-1) === '}' ? 'key' : 'value'
  return true
}

function accept(state: State, text: string): boolean {
  switch (state.expects) {
    case 'value':
    case 'valueOrEnd':
      return takeValue(state, text)
    case 'key':
    case 'keyOrEnd':
      return takeKey(state, text)
    case 'colon':
      state.expects = 'value'
      return text === ':'
    case 'commaOrEnd':
      return takeSeparator(state, text)
    case 'nothing':
      return false
  }
}

/** Offset of the first character that is not allowed there; the length of the text when it ends too early. */
export function locateJsonFault(text: string): number {
  const state: State = { expects: 'value', closers: [] }
  let offset = 0
  for (;;) {
    blank.lastIndex = offset
    offset += blank.exec(text)?.[0].length ?? 0
    if (offset >= text.length) return text.length
    token.lastIndex = offset
    const found = token.exec(text)?.[0]
    if (found === undefined || !accept(state, found)) return offset
    offset += found.length
  }
}

/** `line 3, column 14`, both from 1. */
export function describePosition(text: string, offset: number): string {
  const before = text.slice(0, offset)
  const line = before.split('\n').length
  return `line ${line}, column ${offset - before.lastIndexOf('\n')}`
}
