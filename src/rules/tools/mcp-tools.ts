// Which tools of an MCP server models get, and under which names.
import { createHash } from 'node:crypto'
import type { ListedTool, OfferedTool } from '../../contract/kinds/tools/tool-mcp.ts'

/** Models choose badly among more, and each costs tokens in every call. */
const mostTools = 128
/** The descriptions and schemas of all of them, as JSON. */
const mostBytes = 262_144
/** Both vendor families allow 64 letters, digits, "_" and "-". */
const longestName = 64
const digits = 8

/** `docs__search`: the Tool, then the server's name for it. What vendors do not allow, or is too long, ends in a hash. */
export function nameListedTool(tool: string, serverName: string): string {
  const plain = `${tool}__${serverName}`
  if (plain.length <= longestName && /^[\w-]+$/.test(plain)) return plain
  const hash = createHash('sha256').update(plain).digest('hex').slice(0, digits)
  return `${plain.replace(/[^\w-]/g, '_').slice(0, longestName - digits - 1)}_${hash}`
}

/** `*` stands for any text. */
function matches(name: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return name === pattern
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false
  let at = first.length
  const end = name.length - last.length
  return rest.every((part) => {
    const found = name.indexOf(part, at)
    at = found + part.length
    return found >= 0 && at <= end
  })
}

type Choice = { tools: ListedTool[]; problem?: undefined } | { problem: string }

/** Of tools with one name the first counts. */
export function chooseListedTools(
  { name, patterns }: { name: string; patterns: readonly string[] | undefined },
  offered: readonly OfferedTool[],
): Choice {
  const wanted = offered.filter((one) => patterns?.some((pattern) => matches(one.serverName, pattern)) ?? true)
  const tools = [...new Map(wanted.toReversed().map((one) => [one.serverName, one])).values()].toReversed()
  if (offered.length > 0 && tools.length === 0)
    return { problem: `mcp.tools matches none of its ${offered.length} tools` }
  if (tools.length > mostTools) {
    return { problem: `the server offers ${tools.length} tools; choose at most ${mostTools} of them with mcp.tools` }
  }
  const named = tools.map((one) => ({ name: nameListedTool(name, one.serverName), ...one }))
  const bytes = Buffer.byteLength(JSON.stringify(named))
  if (bytes <= mostBytes) return { tools: named }
  return { problem: `what the server says of its tools is ${bytes} bytes; choose fewer of them with mcp.tools` }
}

/** What is wrong with the server of an actor that has no tool of the Tool's name; undefined when it has one. */
export function findMissingTool(name: string, offered: readonly OfferedTool[]): string | undefined {
  if (offered.some(({ serverName }) => serverName === name)) return undefined
  const names = offered.map(({ serverName }) => serverName).slice(0, 8)
  const has = names.length === 0 ? 'it has no tools' : `it has ${names.join(', ')}`
  return `the server in the actor has no tool named "${name}"; ${has}. Name the Tool like the tool that it stands for`
}
