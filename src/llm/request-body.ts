// The text of a request's body. Tools are the larger part of most bodies and the same in all: each is written once.
import type { JsonObject, ToolSchema } from './messages.ts'

type Encode = (tool: ToolSchema) => JsonObject

/** The wire form of a tool, made once for as long as the tool is there. */
export function rememberTools(encode: Encode): Encode {
  const known = new WeakMap<ToolSchema, JsonObject>()
  return (tool) => {
    const found = known.get(tool)
    if (found !== undefined) return found
    const made = encode(tool)
    known.set(tool, made)
    return made
  }
}

const texts = new WeakMap<JsonObject, string>()

function writeTool(tool: JsonObject): string {
  const known = texts.get(tool)
  if (known !== undefined) return known
  const text = JSON.stringify(tool)
  texts.set(tool, text)
  return text
}

/** JSON of a body; its tools stand last. */
export function writeBody({ tools, ...body }: JsonObject): string {
  const text = JSON.stringify(body)
  if (!Array.isArray(tools)) return text
  const list = (tools as JsonObject[]).map(writeTool).join(',')
  return text === '{}' ? `{"tools":[${list}]}` : `${text.slice(0, -1)},"tools":[${list}]}`
}
