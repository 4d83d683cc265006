// What a reviewer answers, as untrusted text: either a list of things to check one by one, or a fault of the whole.
import { parseForeignJson } from '../../contract/schema/foreign-json.ts'
import { isJsonObject, type JsonObject } from '../../contract/schema/json.ts'

/** Bytes; a longer answer is refused unread. */
export const longestAnswer = 1_048_576

export type ReviewAnswer = { findings: unknown[] } | { fault: string }

const again = 'run the review again'

/** The object in a text around it (a fence of Markdown, a sentence before it); the text itself without one. */
function findObject(text: string): string {
  const from = text.indexOf('{')
  const to = text.lastIndexOf('}')
  return from < 0 || to < from ? text.trim() : text.slice(from, to + 1)
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value = parseForeignJson(findObject(text))
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function explainText(text: string): string {
  if (text.trim() === '') return `the answer is empty: ${again}`
  const isCut = text.includes('{') && !text.trimEnd().endsWith('}') && !text.trimEnd().endsWith('```')
  return isCut
    ? `the answer is cut off and no JSON: ${again} with more output tokens`
    : `the answer is not JSON: ${again}`
}

function checkEnvelope({ schemaVersion, scan, findings }: JsonObject, sliceId: string): string | undefined {
  if (schemaVersion !== 2) return `schemaVersion of the answer must be 2: ${again}`
  const named = isJsonObject(scan) ? scan.sliceId : undefined
  if (named !== sliceId) return `the answer is about another slice than the one that was reviewed: ${again}`
  return Array.isArray(findings) ? undefined : `findings of the answer must be a list: ${again}`
}

/** `sliceId`: of the slice that was to be reviewed. What the answer says about the repository is passed over. */
export function readReviewAnswer(text: string, sliceId: string): ReviewAnswer {
  if (Buffer.byteLength(text) > longestAnswer)
    return { fault: `the answer has more than ${longestAnswer} bytes: ${again}` }
  const answer = parseObject(text)
  if (answer === undefined) return { fault: explainText(text) }
  const fault = checkEnvelope(answer, sliceId)
  return fault === undefined ? { findings: answer.findings as unknown[] } : { fault }
}
