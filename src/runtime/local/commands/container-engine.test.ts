import { describe, expect, it } from 'vitest'
import { readFrames } from './container-engine.ts'

function makeFrame(stream: number, text: string): Buffer {
  const head = Buffer.alloc(8)
  head[0] = stream
  head.writeUInt32BE(Buffer.byteLength(text), 4)
  return Buffer.concat([head, Buffer.from(text)])
}

async function collect(parts: Buffer[]) {
  const texts = { stdout: '', stderr: '' }
  async function* source() {
    yield* parts
  }
  for await (const frame of readFrames(source())) texts[frame.stream] += frame.chunk.toString()
  return texts
}

const whole = Buffer.concat([makeFrame(1, 'one '), makeFrame(2, 'oops'), makeFrame(1, ''), makeFrame(1, 'two')])

describe('the framed output of a container', () => {
  it('is split into stdout and stderr', async () => {
    expect(await collect([whole])).toEqual({ stdout: 'one two', stderr: 'oops' })
  })

  it('is the same wherever it is split into chunks', async () => {
    for (let size = 1; size < whole.length; size++) {
      const parts = Array.from({ length: Math.ceil(whole.length / size) }, (_, i) =>
        whole.subarray(i * size, (i + 1) * size),
      )
      expect(await collect(parts)).toEqual({ stdout: 'one two', stderr: 'oops' })
    }
  })

  it('is passed on as far as it came when the last frame is incomplete', async () => {
    expect(await collect([whole.subarray(0, 10)])).toEqual({ stdout: 'on', stderr: '' })
    expect(await collect([whole.subarray(0, 5)])).toEqual({ stdout: '', stderr: '' })
  })
})
