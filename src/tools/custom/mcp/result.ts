// What a model is shown of the result of an MCP tool: text and data; pictures and sounds are named only.
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { parseForeignJson } from '../../../contract/schema/foreign-json.ts'
import type { Redactor } from '../../../observability/redaction.ts'
import type { ToolOutcome } from '../../registry/tool.ts'
import { failTool } from '../../registry/tool-error.ts'
import { headOfText } from '../../workspaces/text-window.ts'
import { largestShown } from '../custom-call.ts'

type Content = CallToolResult['content'][number]

function describeContent(content: Content): string {
  switch (content.type) {
    case 'text':
      return content.text
    case 'image':
    case 'audio':
      return `[${content.type} of type ${content.mimeType}, which cannot be shown]`
    case 'resource_link':
      return `[${content.uri}] ${content.title ?? content.name}`
    case 'resource':
      return 'text' in content.resource ? content.resource.text : `[${content.resource.uri}, which cannot be shown]`
  }
}

/** Where there is structured content, servers repeat it as text (specification 2025-06-18, "Structured Content"). */
function readText({ content, structuredContent }: CallToolResult): string {
  return structuredContent === undefined ? content.map(describeContent).join('\n') : JSON.stringify(structuredContent)
}

export function describeResult(result: CallToolResult, redact: Redactor): ToolOutcome {
  const { text, dropped } = headOfText(redact(readText(result)), largestShown)
  if (result.isError === true) return failTool('upstream_error', headOfText(text, 4000).text || 'the tool failed')
  if (dropped === 0) return { success: true, result: readJson(text) }
  const shown = Buffer.byteLength(text)
  return { success: true, result: text, truncated: true, note: `cut: ${shown} of ${shown + dropped} bytes are shown` }
}

/** A model reads JSON inside JSON more easily than JSON in a string. */
function readJson(text: string): unknown {
  const value = parseForeignJson(text)
  return typeof value === 'object' && value !== null ? value : text
}
