// One tool: what a model is told about it and what runs, both from one schema.
import { z } from 'zod'
import type { JsonObject } from '../../lib/json.ts'
import { memoizeByObject } from '../../lib/memoize.ts'
import type { Egress, EgressPolicy } from '../../ports/service/egress.ts'
import type { Sandbox } from '../../ports/workspaces/sandbox.ts'
import type { TraceOrigin } from '../../rules/tasks/trace-context.ts'
import { explainToolError, failTool, type ToolFailure } from './tool-error.ts'

/** The backend of web_search, from the service's own configuration. */
export type SearchSettings = {
  backend: 'searxng' | 'brave' | 'tavily' | 'json'
  url?: string | undefined
  apiKey?: string | undefined
}

/** Passes the run's transaction on to the tools that it calls. */
export interface TokenPropagation {
  /**
   * The token for one call of the tool; undefined when the run has none. Rejects with SvcError: then nothing is called.
   */
  takeToken(tool: string, signal: AbortSignal): Promise<string | undefined>
}

/** What tools that only call other services work with. */
export type OutwardContext = {
  egress: Egress
  /** Egress policy for calls to an address that a model or a user chose. */
  egressPolicy: EgressPolicy
  /** Absent: nothing of the caller's transaction is sent. */
  propagation?: TokenPropagation | undefined
  /** The run whose trace calls carry (W3C Trace Context), and the step of it that the call is. */
  trace?: (TraceOrigin & { attempt: number }) | undefined
  step?: string | undefined
  /** What tools keep open until the run ends. Absent: nothing, for each call connects anew. */
  links?: Links | undefined
  /** Is told how far a call is, in one line. */
  onProgress?: ((line: string) => void) | undefined
}

/** What the tools of one run work with. */
export type ToolContext = OutwardContext & {
  /** The folder that file_read and file_write may touch; models know it as /workspace. */
  workspaceRoot: string
  /**
   * Whether code_exec gets the workspace read-write: true when the workspace is the run's own scratch folder (a worker,
   * a chat session), so that code sees what file_write wrote. Otherwise each call has an empty scratch folder.
   */
  sharesWorkspace: boolean
  sandbox: Sandbox
  /** The caller that its code runs for, as the sandbox counts callers. */
  caller?: string | undefined
  /** Absent: web_search is not configured. */
  search?: SearchSettings | undefined
  /** Environment of code, in addition to the sandbox's own. */
  variables?: Readonly<Record<string, string>> | undefined
  /** Files that code can read, by absolute path. */
  files?: Readonly<Record<string, string>> | undefined
}

type ToolSuccess = JsonObject & { success: true }
export type ToolOutcome = ToolSuccess | ToolFailure

export type Availability = { available: true } | { available: false; reason: string; suggestion: string }

/** What `check` needs to know. */
export type AvailabilityContext = Pick<ToolContext, 'sandbox' | 'search'>

/** `C`: what it works with. */
export interface ModelTool<C = ToolContext> {
  readonly name: string
  /** The Tool resource that it comes from, where that has another name. */
  readonly owner?: string
  readonly description: string
  /** JSON Schema of type object, as models get it. */
  readonly parameters: JsonObject
  /** May run again when it is unknown whether it ran. */
  readonly repeatable: boolean
  /** Its own parameters limit the output: no cut at 64 KiB (BUILT-029). */
  readonly ownsOutputLimit: boolean
  /** Its own time limit, in addition to the loop's. */
  readonly timeoutMs?: number
  /** Whether it can run here (BUILT-016). */
  check(context: AvailabilityContext): Promise<Availability>
  /** Checks the arguments and runs. Never throws. */
  invoke(args: JsonObject, context: C, signal: AbortSignal): Promise<ToolOutcome>
}

/** What a loop knows about a tool: everything except how it runs. */
export type ShownTool = Omit<ModelTool, 'check' | 'invoke'>

const shownTools = new WeakMap<object, ShownTool>()

/** The same object for the same tool, because its wire form is cached by it. */
export function showTool<C>(tool: ModelTool<C>): ShownTool {
  const known = shownTools.get(tool)
  if (known !== undefined) return known
  const { check: _check, invoke: _invoke, ...shown } = tool
  shownTools.set(tool, shown)
  return shown
}

type ToolDefinition<S extends z.ZodObject, C> = {
  name: string
  description: string
  parameters: S
  repeatable: boolean
  ownsOutputLimit?: boolean
  timeoutMs?: number
  check?(context: AvailabilityContext): Promise<Availability>
  /** May throw SvcError: its reason decides the error type. */
  run(args: z.output<S>, context: C, signal: AbortSignal): Promise<ToolOutcome>
}

/** Creates a tool; it runs only with arguments that passed the schema shown to the model. */
export function defineTool<S extends z.ZodObject, C = ToolContext>(definition: ToolDefinition<S, C>): ModelTool<C> {
  const { name, description, repeatable, timeoutMs } = definition
  const check = definition.check ?? (async () => ({ available: true }) as const)
  return {
    name,
    description,
    parameters: describeParameters(definition.parameters),
    repeatable,
    ownsOutputLimit: definition.ownsOutputLimit ?? false,
    timeoutMs,
    check,
    async invoke(args, context, signal) {
      const parsed = definition.parameters.safeParse(dropNulls(args))
      if (!parsed.success) return failArguments(name, parsed.error)
      return guardRun(() => definition.run(parsed.data, context, signal), signal)
    },
  }
}

/** Runs a tool's own code; anything it throws becomes a structured result. */
export async function guardRun(run: () => Promise<ToolOutcome>, signal: AbortSignal): Promise<ToolOutcome> {
  try {
    return await run()
  } catch (error) {
    if (signal.aborted) return failTool('cancelled', 'the call was cancelled before it finished')
    return explainToolError(error)
  }
}

/** Bounds that no sensible call approaches are not worth the tokens: breaking one is explained in the error. */
function dropIdleBounds(node: z.core.JSONSchema.BaseSchema): void {
  delete node.minLength
  delete node.maxLength
  if ((node.minimum ?? 0) <= 1) delete node.minimum
  if (node.maximum === Number.MAX_SAFE_INTEGER) delete node.maximum
  if (node.additionalProperties === false) delete node.additionalProperties
}

/** Once for each schema: a run makes some of its tools itself, of schemas that stay. */
const describeParameters = memoizeByObject((schema: z.ZodObject): JsonObject => {
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ jsonSchema }) => dropIdleBounds(jsonSchema),
  })
  return parameters
})

/** Models of some vendors write null for "not given". */
function dropNulls(args: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null))
}

function failArguments(tool: string, error: z.ZodError): ToolFailure {
  const problems = error.issues.map((issue) => {
    const path = issue.path.join('.')
    return path === '' ? issue.message : `${path}: ${issue.message}`
  })
  return failTool('invalid_arguments', `wrong arguments of ${tool}: ${problems.join('; ')}`)
}

type Closable = { close(): Promise<void> }

export type Links = {
  /** The one for this key, made with the first call. A key is always used for the same type. */
  get<T extends Closable>(key: object, make: () => T): T
  /** Closes all. Never rejects. */
  close(): Promise<void>
}

export function createLinks(): Links {
  const open = new Map<object, Closable>()
  return {
    get<T extends Closable>(key: object, make: () => T): T {
      const link = (open.get(key) as T | undefined) ?? make()
      open.set(key, link)
      return link
    },
    async close() {
      const all = [...open.values()]
      open.clear()
      await Promise.allSettled(all.map((link) => link.close()))
    },
  }
}
