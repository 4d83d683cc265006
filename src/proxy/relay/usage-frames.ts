// Removes the counts that only the service asked for from a stream of llmo: the frame without choices, and no other
// byte.

export interface FrameFilter {
  /** What may go on to the client; empty while a frame is incomplete. */
  push(chunk: Buffer): Buffer
  /** What was held back when the stream ended. */
  rest(): Buffer
}

const nothing = Buffer.alloc(0)
/** No frame of counts is this long: anything longer is passed on as it arrives. */
const maxHeldBytes = 65_536
/** A frame without choices contains an empty list. */
const emptyList = Buffer.from('[]')

/**
 * Where the first frame of `text` at or after `from` ends; -1 when it is incomplete. Texts have one character per byte.
 */
function findEnd(text: string, from: number): number {
  const frameEnd = /\r\n\r\n|\n\n|\r\r/g
  frameEnd.lastIndex = from
  return frameEnd.exec(text) === null ? -1 : frameEnd.lastIndex
}

function isUsageOnly(frame: string): boolean {
  const data = /^data:(.*)$/m.exec(frame)?.[1]
  if (data === undefined || !data.includes('"usage"')) return false
  try {
    const { choices, usage } = JSON.parse(data) as { choices?: unknown; usage?: unknown }
    return Array.isArray(choices) && choices.length === 0 && typeof usage === 'object' && usage !== null
  } catch {
    return false
  }
}

/** Passes on complete frames at once; an incomplete one is of no use to anybody. */
export function createUsageFrameFilter(): FrameFilter {
  let held: Buffer = nothing
  /** True within a frame that was too long to hold back. */
  let isLong = false

  function keepFrames(bytes: Buffer, text: string, whole: number): Buffer {
    if (!bytes.includes(emptyList)) return bytes.subarray(0, whole)
    const kept: Buffer[] = []
    for (let at = 0; at < whole; ) {
      const end = findEnd(text, at)
      if (isLong || !isUsageOnly(text.slice(at, end))) kept.push(bytes.subarray(at, end))
      isLong = false
      at = end
    }
    return Buffer.concat(kept)
  }

  return {
    push(chunk) {
      const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk])
      const text = bytes.toString('latin1')
      const whole = Math.max(...['\n\n', '\r\n\r\n', '\r\r'].map((end) => findLast(text, end)))
      const out = whole === 0 ? nothing : keepFrames(bytes, text, whole)
      if (whole > 0) isLong = false
      held = bytes.subarray(whole)
      if (!isLong && held.length <= maxHeldBytes) return out
      isLong = true
      const all = Buffer.concat([out, held])
      held = nothing
      return all
    },
    rest() {
      const last = held
      held = nothing
      return last.length > 0 && isUsageOnly(last.toString('latin1')) ? nothing : last
    },
  }
}

/** The position after the last `end` in the text; 0 when there is none. */
function findLast(text: string, end: string): number {
  const at = text.lastIndexOf(end)
  return at === -1 ? 0 : at + end.length
}
