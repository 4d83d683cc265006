// The output of a container as the engine frames it: one stream for both, each frame with a head of eight bytes.

export type OutputFrame = { stream: 'stdout' | 'stderr'; chunk: Buffer }

const headLength = 8

/** Bytes read and not yet passed on, and how much is still missing of the current frame. */
type FrameState = { pending: Buffer; remaining: number; stream: OutputFrame['stream'] }

function readHead(state: FrameState): void {
  state.stream = state.pending[0] === 2 ? 'stderr' : 'stdout'
  state.remaining = state.pending.readUInt32BE(4)
  state.pending = state.pending.subarray(headLength)
}

/** The next part of a frame: a large frame is passed on in parts, not collected. */
function takeChunk(state: FrameState): OutputFrame | undefined {
  while (state.remaining === 0 && state.pending.length >= headLength) readHead(state)
  if (state.remaining === 0 || state.pending.length === 0) return undefined
  const chunk = state.pending.subarray(0, state.remaining)
  state.pending = state.pending.subarray(chunk.length)
  state.remaining -= chunk.length
  return { stream: state.stream, chunk }
}

/** Reads frames (Docker Engine API, "Stream format"), no faster than they are consumed. */
export async function* readFrames(source: AsyncIterable<Buffer | string>): AsyncGenerator<OutputFrame> {
  const state: FrameState = { pending: Buffer.alloc(0), remaining: 0, stream: 'stdout' }
  for await (const part of source) {
    state.pending = Buffer.concat([state.pending, Buffer.from(part as Buffer)])
    for (let frame = takeChunk(state); frame !== undefined; frame = takeChunk(state)) yield frame
  }
}
