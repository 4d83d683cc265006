// Tools: the built-in ones and the resources, in one list.
import { z } from 'zod'
import { Name, Timestamp } from '../../kinds/resources/metadata.ts'
import { ToolName } from '../../kinds/resources/references.ts'
import { Tool } from '../../kinds/tools/tool.ts'
import { field } from '../../schema/field.ts'
import { defineCreate, defineDelete, defineGet, defineList, defineUpdate } from '../resources/resource-routes.ts'
import { defineRoute } from '../resources/route.ts'

const routesAt = { tag: 'Tools', base: '/api/v1/tools', noun: 'a tool' }
const parameters = z.record(z.string(), z.unknown())

/** A tool that comes with the service. */
export const BuiltinTool = z
  .object({
    name: field(ToolName, 'Name of the tool.', 'web_fetch'),
    builtin: field(z.literal(true), 'Always true.'),
    description: field(z.string(), 'What the tool does; the model reads it.', 'Fetches a web page as text'),
    parameters: field(parameters, 'JSON Schema of the arguments.', { type: 'object' }),
    available: field(z.boolean(), 'Whether the tool can run here; if not, `reason` says why.'),
    reason: field(z.string().optional(), 'Why the tool cannot run here.', 'no search backend is set up'),
  })
  .meta({ id: 'BuiltinTool' })
export type BuiltinTool = z.infer<typeof BuiltinTool>

/** A Tool resource, as the list shows it. */
export const CustomToolItem = z
  .object({
    name: field(Name, 'Name of the Tool.', 'weather'),
    namespace: field(Name, 'Namespace of the Tool.', 'default'),
    builtin: field(z.literal(false), 'Always false.'),
    description: field(z.string(), 'What the tool does; the model reads it.', 'Returns the weather of a city'),
    available: field(z.boolean(), 'Whether the service can reach the tool.'),
    error: field(z.string().optional(), 'Why it cannot be reached.', 'the Secret weather-key is missing'),
    url: field(
      z.string().optional(),
      'Address that each call is sent to. Absent while it is not known.',
      'https://api.example.com/weather',
    ),
    createdAt: field(Timestamp, 'When it was created.'),
  })
  .meta({ id: 'CustomTool' })
export type CustomToolItem = z.infer<typeof CustomToolItem>

/** An entry of the list; the built-in tools come first, on the first page. */
export const ToolItem = z.union([BuiltinTool, CustomToolItem])
export type ToolItem = z.infer<typeof ToolItem>

/** A built-in tool's metadata, or the full resource (TOOL-002, TOOL-003). */
export const ToolDetail = z.union([BuiltinTool, Tool])

/** Names of built-in tools, which resources cannot have (409). They may contain "_", which names of resources cannot. */
export const createTool = defineCreate('Tool', routesAt)
export const listTools = defineList('Tool', routesAt, ToolItem)
export const updateTool = defineUpdate('Tool', routesAt)
export const deleteTool = defineDelete('Tool', routesAt)

export const getTool = defineRoute({
  ...defineGet('Tool', routesAt, ToolDetail),
  params: z.object({ name: field(ToolName, 'Name of a built-in tool or of a Tool.', 'web_fetch') }),
})
