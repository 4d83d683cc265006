// The instructions that the demo provider follows, and how it describes itself (PROV-014).
import { isJsonObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import { trimTrailing } from '../../lib/trim.ts'

export type DemoAction =
  | { kind: 'tool'; name: string; args: JsonObject }
  | { kind: 'wait'; seconds: number }
  | { kind: 'say'; text: string }

export type DemoInstruction = {
  /** A working one, for documentation. */
  example: string
  does: string
  pattern: RegExp
  act(match: RegExpMatchArray): DemoAction | undefined
}

const languages: Partial<Record<string, string>> = {
  python: 'python',
  python3: 'python',
  javascript: 'javascript',
  js: 'javascript',
  node: 'javascript',
  bash: 'bash',
  shell: 'bash',
  sh: 'bash',
}

function unquote(text: string): string {
  const trimmed = text.trim()
  const quoted = /^(["'`])([\s\S]*)\1$/.exec(trimmed)
  return quoted?.[2] ?? trimmed
}

/** A file name or address at the end of a sentence. */
function readName(text: string): string {
  return unquote(trimTrailing(text.trim(), '.,!?'))
}

function readCode(text: string): string {
  const fenced = /^```\w*\n([\s\S]*?)\n?```$/.exec(text.trim())
  return fenced?.[1] ?? unquote(text)
}

function callTool(name: string, args: JsonObject): DemoAction {
  return { kind: 'tool', name, args }
}

function parseObject(text: string): JsonObject | undefined {
  const value = tryParseJson(text)
  return isJsonObject(value) ? value : undefined
}

/** Tried in this order. */
export const demoInstructions: DemoInstruction[] = [
  {
    example: 'write hello to notes.txt',
    does: 'writes a file (file_write)',
    pattern: /^(?:write|save|put)\s+(\S[\s\S]*?)\s(?:to|into|in)\s+(?:(?:the\s+)?file\s+)?(\S+)$/i,
    act: ([, text = '', path = '']) => callTool('file_write', { path: readName(path), content: unquote(text) }),
  },
  {
    example: 'append more to notes.txt',
    does: 'appends to a file (file_write)',
    pattern: /^(?:append|add)\s+(\S[\s\S]*?)\sto\s+(?:(?:the\s+)?file\s+)?(\S+)$/i,
    act: ([, text = '', path = '']) =>
      callTool('file_write', { path: readName(path), content: unquote(text), mode: 'append' }),
  },
  {
    example: 'fetch https://example.com/',
    does: 'fetches a web page (web_fetch)',
    pattern: /^(?:fetch|get|open|read|download)\s+(https?:\/\/\S+)$/i,
    act: ([, url = '']) => callTool('web_fetch', { url: readName(url) }),
  },
  {
    example: 'read notes.txt',
    does: 'reads a file (file_read)',
    pattern: /^(?:read|show|cat|open|print)\s+(?:(?:the\s+)?file\s+)?(\S+)$/i,
    act: ([, path = '']) => callTool('file_read', { path: readName(path) }),
  },
  {
    example: 'run python: print(2+2)',
    does: 'runs python, javascript or bash (code_exec); code of several lines goes into a ``` block',
    pattern: /^(?:run|execute)\s+(\w+)\s*(?::|\s(?=```))\s*([\s\S]+)$/i,
    act: ([, word = '', code = '']) => {
      const language = languages[word.toLowerCase()]
      return language === undefined ? undefined : callTool('code_exec', { language, code: readCode(code) })
    },
  },
  {
    example: 'search the web for sqlite',
    does: 'searches the web (web_search)',
    pattern: /^(?:web\s+)?search\s+(?:the\s+web\s+)?(?:for\s+)?([\s\S]+)$/i,
    act: ([, query = '']) => callTool('web_search', { query: unquote(query) }),
  },
  {
    example: 'call remember {"content":"tea at five"}',
    does: 'calls any tool of the run with JSON arguments',
    pattern: /^(?:call|use)\s+(?:(?:the\s+)?tool\s+)?([\w.-]+)\s*(?:with\s+)?(\{[\s\S]*\})?$/i,
    act: ([, name = '', json = '{}']) => {
      const args = parseObject(json)
      return args === undefined ? undefined : callTool(name, args)
    },
  },
  {
    example: 'wait 2 seconds',
    does: 'waits, at most 300 seconds',
    pattern: /^(?:wait|sleep)\s+(?:for\s+)?(\d+(?:\.\d+)?)\s*(?:s|sec|secs|seconds?)?$/i,
    act: ([, seconds = '0']) => ({ kind: 'wait', seconds: Math.min(Number(seconds), 300) }),
  },
  {
    example: 'say hello',
    does: 'puts a text into the answer',
    pattern: /^(?:say|echo|answer)\s+([\s\S]+)$/i,
    act: ([, text = '']) => ({ kind: 'say', text: unquote(text) }),
  },
]

/** The first words of instructions: text after a separator is a new step when it starts with one. */
export const demoVerbs =
  'write|save|put|append|add|fetch|get|open|download|read|show|cat|print|run|execute|search|web search|call|use|wait|sleep|say|echo|answer'

export function describeInstructions(): string {
  const lines = demoInstructions.map(({ example, does }) => `- ${example} - ${does}`)
  return `${lines.join('\n')}\nSeveral are separated by "then", "and", ";" or line breaks.`
}

export type DemoStep = { text: string; action?: DemoAction }

const politeness = /^(?:please|now|first|finally|next|also|then|and|you should|can you|could you)[\s,:]+/i
/** Where the first word of a step is looked for. */
const maxBeginning = 1000
const startsInstruction = new RegExp(`^(?:${demoVerbs})\\s`, 'i')
const startsCode = /^(?:run|execute)\s+\w+\s*:/i

/** Quoted and fenced text is never split. A run of blanks is looked at from its start only. */
const token =
  /```[\s\S]*?```|"[^"\n]*"|`[^`\n]*`|[,;.]?(?<!\s)\s+(?:and\s+)?then\s+|(?<!\s)\s+and\s+|[;,]\s+|;|\.\s+|\n+|[\s\S]/gi

function strip(text: string): string {
  let rest = text.trim()
  while (politeness.test(rest)) rest = rest.replace(politeness, '')
  return rest
}

const separator = /^(?:[,;.]?\s+(?:and\s+)?then\s+|\s+and\s+|[;,]\s+|;|\.\s+|\n+)$/i
const hardSeparator = /^(?:[,;.]?\s+(?:and\s+)?then\s+|\.\s+|\n+)$/i

/**
 * `then`, a full stop and line breaks always separate; others only before a new instruction. Code ends at more
 * characters.
 */
function separates(text: string, before: string, after: string): boolean {
  if (!separator.test(text)) return false
  const isFollowed = startsInstruction.test(strip(after.slice(0, maxBeginning)))
  if (startsCode.test(strip(before.slice(0, maxBeginning)))) return isFollowed && /then|and|\n/i.test(text)
  return isFollowed || hardSeparator.test(text)
}

function splitSteps(prompt: string): string[] {
  const steps: string[] = []
  let start = 0
  for (const { 0: text, index } of prompt.matchAll(token)) {
    const end = index + text.length
    if (!separates(text, prompt.slice(start, index), prompt.slice(end))) continue
    steps.push(prompt.slice(start, index))
    start = end
  }
  return [...steps, prompt.slice(start)].map(strip).filter((step) => step !== '')
}

function findAction(text: string): DemoAction | undefined {
  for (const instruction of demoInstructions) {
    const match = instruction.pattern.exec(text)
    const action = match === null ? undefined : instruction.act(match)
    if (action !== undefined) return action
  }
  return undefined
}

/** The steps of a prompt, in order; a step without an action was not understood. */
export function planSteps(prompt: string): DemoStep[] {
  return splitSteps(prompt.slice(0, 100_000)).map((text) => {
    const action = findAction(text) ?? findAction(trimTrailing(text, '.!?'))
    return action === undefined ? { text } : { text, action }
  })
}
