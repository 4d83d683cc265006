// The Cranfield collection (1,400 abstracts, 225 questions, judged by people) in its own files.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Collection } from './memory-quality.ts'

/** The parts of a file whose records begin with `.I NUMBER` and whose fields begin with a dot and a letter. */
function readRecords(file: string): { id: string; fields: Record<string, string> }[] {
  const records = readFileSync(file, 'utf8').split(/^\.I /m).slice(1)
  return records.map((record) => {
    const [id = '', ...parts] = record.split(/^\.([A-Z])\s*$/m)
    const fields: Record<string, string> = {}
    for (let at = 0; at + 1 < parts.length; at += 2) fields[parts[at] ?? ''] = (parts[at + 1] ?? '').trim()
    return { id: String(Number(id)), fields }
  })
}

/** Its judgements go from 1, a complete answer, to 4, of little interest; others are not relevant. */
function readGains(file: string): Map<number, Map<string, number>> {
  const gains = new Map<number, Map<string, number>>()
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [question, text, grade] = line.trim().split(/\s+/).map(Number)
    if (question === undefined || grade === undefined || grade < 1 || grade > 4) continue
    const found = gains.get(question) ?? new Map<string, number>()
    gains.set(question, found.set(String(text), 5 - grade))
  }
  return gains
}

/** Read in place: the folder has cran.all.1400, cran.qry and cranqrel. */
export function readCranfield(folder: string): Collection {
  const gains = readGains(join(folder, 'cranqrel'))
  const texts = readRecords(join(folder, 'cran.all.1400')).map(({ id, fields: { T = '', W = '' } }) => ({
    id,
    // The abstract repeats the title.
    text: W.startsWith(T) ? W : `${T}\n${W}`,
  }))
  // Judgements count the questions; they do not name their numbers.
  const judged = readRecords(join(folder, 'cran.qry')).map(({ fields }, at) => ({
    question: fields.W ?? '',
    gains: gains.get(at + 1) ?? new Map<string, number>(),
  }))
  return { texts, judged: judged.filter((one) => one.gains.size > 0) }
}
