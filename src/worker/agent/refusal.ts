// What a call of an agent program was refused with. Programs often show words of their own instead.
import type { IncomingMessage } from 'node:http'
import { parseForeignJson } from '../../contract/schema/foreign-json.ts'
import { reasonHeader } from '../../errors.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { readVendorError, summarizeBody } from '../../llm/call/vendor-error.ts'
import { isPacked, unpackShort } from '../../llm/call/vendor-request.ts'

/** `status` is 200 where a stream had begun; `reason` is the service's, where it said one. */
export type Refusal = { status: number; reason?: string; message: string }

const maxKeptBytes = 65_536
const maxUnpackedBytes = 1_048_576
/** A stream tells its failure at its end. */
const maxLastFrames = 4

export function describeRefusal({ status, reason, message }: Refusal): string {
  return `HTTP ${status}${reason === undefined ? '' : ` (${reason})`}: ${message}`
}

export type RefusalReader = {
  push(chunk: Buffer): void
  /** Called when the answer has ended; undefined: it was none. */
  read(): Refusal | undefined
}

/** The words of an error, in any form that servers give it. */
function readWords(text: string): string {
  return readVendorError(parseForeignJson(text))?.message ?? summarizeBody(text)
}

function readFrame(line: string): string | undefined {
  const frame = parseForeignJson(line.slice('data:'.length))
  if (!isJsonObject(frame)) return undefined
  const response: JsonObject = isJsonObject(frame.response) ? frame.response : {}
  const error = frame.error ?? response.error ?? (frame.type === 'error' ? frame : undefined)
  return error == null ? undefined : readVendorError({ error })?.message
}

function readLastFrames(text: string): string | undefined {
  const lines = text.split(/[\r\n]+/).filter((line) => line.startsWith('data:'))
  return lines
    .slice(-maxLastFrames)
    .map(readFrame)
    .findLast((words) => words !== undefined)
}

function unpack(body: Buffer, { headers }: IncomingMessage): string | undefined {
  const encoding = headers['content-encoding']
  return (isPacked(encoding) ? unpackShort(body, encoding, maxUnpackedBytes) : body)?.toString()
}

/** Keeps the end of the answer, where a stream tells that it failed, and which is the whole of an ordinary error. */
export function createRefusalReader(answer: IncomingMessage): RefusalReader {
  const { statusCode: status = 502, headers } = answer
  const parts: Buffer[] = []
  let size = 0

  function readMessage(): string | undefined {
    const text = unpack(Buffer.concat(parts), answer)
    if (status >= 400) return readWords(text ?? '')
    return text !== undefined && headers['content-type']?.startsWith('text/event-stream')
      ? readLastFrames(text)
      : undefined
  }

  return {
    push(chunk) {
      parts.push(chunk)
      size += chunk.length
      while (size - (parts[0]?.length ?? size) >= maxKeptBytes) size -= parts.shift()?.length ?? 0
    },
    read() {
      const message = readMessage()
      const reason = [headers[reasonHeader]].flat()[0]
      return message === undefined ? undefined : { status, ...(reason !== undefined && { reason }), message }
    },
  }
}
