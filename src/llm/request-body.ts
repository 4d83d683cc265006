// The text of a request's body. Tools are the larger part of most bodies and the same in all: each is written once.
import type { JsonObject } from '../contract/json.ts'
import { rememberBy } from './remembered.ts'

/** Of the wire form of a tool, which the codecs make once for as long as the tool is there. */
const writeTool = rememberBy((tool: JsonObject) => JSON.stringify(tool))

/** JSON of a body; its tools stand last. */
export function writeBody({ tools, ...body }: JsonObject): string {
  const text = JSON.stringify(body)
  if (!Array.isArray(tools)) return text
  const list = (tools as JsonObject[]).map(writeTool).join(',')
  return text === '{}' ? `{"tools":[${list}]}` : `${text.slice(0, -1)},"tools":[${list}]}`
}
