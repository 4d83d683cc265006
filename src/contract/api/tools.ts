// Tools: the built-in ones and the resources, in one list.
import { z } from 'zod'
import { Name } from '../resources/metadata.ts'
import { ToolName } from '../resources/references.ts'
import { Tool } from '../resources/tool.ts'
import { defineCreate, defineDelete, defineGet, defineList, defineUpdate } from './resource-routes.ts'
import { defineRoute } from './route.ts'

const place = { tag: 'Tools', base: '/api/v1/tools', noun: 'a tool' }
const parameters = z.record(z.string(), z.unknown())

/** A tool that comes with the service. */
export const BuiltinTool = z
  .object({
    name: ToolName,
    builtin: z.literal(true),
    description: z.string(),
    /** JSON Schema of the arguments. */
    parameters,
    /** False when it cannot run here; `reason` says why. */
    available: z.boolean(),
    reason: z.string().optional(),
  })
  .meta({ id: 'BuiltinTool' })
export type BuiltinTool = z.infer<typeof BuiltinTool>

/** A Tool resource, as the list shows it. */
export const CustomToolItem = z
  .object({
    name: Name,
    namespace: Name,
    builtin: z.literal(false),
    description: z.string(),
    available: z.boolean(),
    /** Absent while it is not resolved. */
    url: z.string().optional(),
  })
  .meta({ id: 'CustomTool' })
export type CustomToolItem = z.infer<typeof CustomToolItem>

/** An entry of the list; the built-in tools come first, on the first page. */
export const ToolItem = z.union([BuiltinTool, CustomToolItem])
export type ToolItem = z.infer<typeof ToolItem>

/** A built-in tool's metadata, or the full resource (TOOL-002, TOOL-003). */
export const ToolDetail = z.union([BuiltinTool, Tool])

/** Names of built-in tools, which no resource can take (409). They may have a "_", which names cannot. */
export const createTool = defineCreate('Tool', place)
export const listTools = defineList('Tool', place, ToolItem)
export const updateTool = defineUpdate('Tool', place)
export const deleteTool = defineDelete('Tool', place)

export const getTool = defineRoute({
  ...defineGet('Tool', place, ToolDetail),
  params: z.object({ name: ToolName }),
})
