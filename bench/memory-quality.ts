// How well memories are found: nDCG@10 and recall@10 of judged questions, as the service searches them.
import type { Memories } from '../src/ports/memory/memories.ts'
import { createPromptFit, providedMemories, queryOfPrompt, readSentences } from '../src/rules/memory/prompt-fit.ts'
import { type Row, round } from './measure.ts'

/** A question, and how much each text that answers it counts. */
export type Judged = { question: string; gains: Map<string, number> }
/** Texts that one namespace holds; `session`: in which of its sessions a text was written. */
export type Collection = { texts: { id: string; text: string; session?: string }[]; judged: Judged[] }
/** The ids of the texts that answer a question, best first. */
export type Search = (question: string) => Promise<string[]>

const places = 10

export async function fill(memories: Memories, { texts }: Collection, namespace: string): Promise<void> {
  for (const { id, text, session } of texts) {
    const origin = session === undefined ? {} : { sessionName: session }
    await memories.create({ namespace, id, content: text, source: 'manual', disabled: false, ...origin })
  }
}

/** Searches as the service does without a provider of vectors. */
export function searchWith(memories: Memories, namespace: string, limit = places): Search {
  return async (question) => (await memories.list({ namespace, query: question, limit })).map(({ id }) => id)
}

/** What a task with this prompt is given. */
export function provideWith(memories: Memories, namespace: string, hasFloor = true): Search {
  return async (prompt) => {
    const sentences = readSentences(prompt)
    const shareOf = createPromptFit(sentences, await memories.weigh(namespace, sentences.flat()))
    const accept = hasFloor ? { accept: (memory: Parameters<typeof shareOf>[0]) => shareOf(memory) !== undefined } : {}
    const query = { namespace, query: queryOfPrompt(prompt), limit: providedMemories.count, reader: prompt }
    return (await memories.recall({ ...query, ...accept })).map(({ id }) => id)
  }
}

function sumGains(gains: readonly number[]): number {
  return gains.slice(0, places).reduce((sum, gain, at) => sum + gain / Math.log2(at + 2), 0)
}

/** The shares of the best possible gain and of all relevant texts that the first ten have. */
function judge(order: readonly string[], gains: ReadonlyMap<string, number>) {
  const best = [...gains.values()].sort((one, other) => other - one)
  const found = order.slice(0, places).map((id) => gains.get(id) ?? 0)
  return {
    ndcg: sumGains(found) / sumGains(best),
    recall: found.filter((gain) => gain > 0).length / gains.size,
    count: order.length,
  }
}

/** Means over the questions, in per cent; `given`: how many were found. */
export async function judgeAll(asked: readonly { search: Search; judged: Judged }[]) {
  const sums = { ndcg: 0, recall: 0, count: 0 }
  for (const { search, judged } of asked) {
    const { ndcg, recall, count } = judge(await search(judged.question), judged.gains)
    sums.ndcg += ndcg
    sums.recall += recall
    sums.count += count
  }
  const mean = (sum: number) => sum / asked.length
  return { ndcg: 100 * mean(sums.ndcg), recall: 100 * mean(sums.recall), count: mean(sums.count) }
}

export async function measureQuality(what: string, asked: readonly { search: Search; judged: Judged }[]): Promise<Row> {
  const { ndcg, recall } = await judgeAll(asked)
  return { what, questions: asked.length, 'nDCG@10': round(ndcg), 'recall@10': round(recall) }
}
