// Reads the beginning of a stored record as text.
import type { Results } from '../ports/tasks/outputs.ts'

/** The first `maxBytes` bytes of a task's result as text; undefined when it has none. */
export async function readResultText(
  results: Results,
  which: { taskUid: string; attempt?: number },
  maxBytes: number,
): Promise<string | undefined> {
  const result = await results.get(which.taskUid, which.attempt)
  if (result === undefined) return undefined
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of result.open()) {
    chunks.push(Buffer.from(chunk))
    size += chunk.length
    if (size >= maxBytes) break
  }
  return Buffer.concat(chunks).subarray(0, maxBytes).toString('utf8')
}
