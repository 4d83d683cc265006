// A call as the item that the client expects for the tool that it declared.
import { parseForeignObject } from '../../contract/schema/foreign-json.ts'
import type { JsonObject } from '../../lib/json.ts'
import { createFreeText } from './free-text.ts'
import type { CallKind, DeclaredTool } from './tools.ts'

/** How the text of an item is streamed: its pieces, and the whole in the last event. */
export type TextEvents = { delta: string; done: string; whole: string }

/** What a call is while its arguments arrive. */
export type CallWriter = {
  /** A fragment of the arguments; what it adds to the text of the item. */
  push(fragment: string): string
  /** The whole text, and the fields that it gives the item. */
  end(): { text: string; fields: JsonObject }
}

export type CallForm = {
  type: string
  /** Prefix of the ids of such items. */
  prefix: string
  /** Absent: the item comes as a whole. */
  events?: TextEvents
  /** Fields before the arguments are known. */
  empty: JsonObject
  createWriter(): CallWriter
}

function collect(describe: (args: string) => JsonObject): () => CallWriter {
  return () => {
    let args = ''
    return {
      push(fragment) {
        args += fragment
        return fragment
      },
      end: () => ({ text: args, fields: describe(args) }),
    }
  }
}

function createTextWriter(): CallWriter {
  const text = createFreeText()
  return {
    push: text.push,
    end() {
      const input = text.end()
      return { text: input, fields: { input } }
    },
  }
}

const parse = (args: string) => parseForeignObject(args) ?? {}

export const callForms: Record<CallKind, CallForm> = {
  function: {
    type: 'function_call',
    prefix: 'fc',
    events: {
      delta: 'response.function_call_arguments.delta',
      done: 'response.function_call_arguments.done',
      whole: 'arguments',
    },
    empty: { arguments: '' },
    createWriter: collect((args) => ({ arguments: args })),
  },
  custom: {
    type: 'custom_tool_call',
    prefix: 'ctc',
    events: {
      delta: 'response.custom_tool_call_input.delta',
      done: 'response.custom_tool_call_input.done',
      whole: 'input',
    },
    empty: { input: '' },
    createWriter: createTextWriter,
  },
  local_shell: {
    type: 'local_shell_call',
    prefix: 'lsh',
    empty: { action: { type: 'exec', command: [], env: {} } },
    createWriter: collect((args) => ({ action: { command: [], env: {}, ...parse(args), type: 'exec' } })),
  },
  tool_search: {
    type: 'tool_search_call',
    prefix: 'tsc',
    empty: { execution: 'client', arguments: {} },
    createWriter: collect((args) => ({ execution: 'client', arguments: parse(args) })),
  },
}

/** What names the tool in its item. */
export function nameTool({ kind, name, namespace }: DeclaredTool): JsonObject {
  if (kind !== 'function' && kind !== 'custom') return {}
  return { name, ...(namespace !== undefined && { namespace }) }
}
