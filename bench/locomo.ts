// LoCoMo (Maharana and others, 2024): ten long conversations of two people, and questions with the turns that answer them. Its licence
// is CC BY-NC 4.0, so that it is read where it lies and is no part of this repository.
import { readFileSync } from 'node:fs'
import type { Collection, Judged } from './memory-quality.ts'

type Turn = { speaker: string; dia_id: string; text: string }
type Sample = {
  qa: { question: string; evidence: string[] }[]
  conversation: Record<string, Turn[] | string>
  /** By session and speaker: a fact, and the turn or the turns that say it. */
  observation: Record<string, Record<string, [fact: string, turns: string | string[]][]>>
}
type Text = Collection['texts'][number] & { turns: string[] }

/** A turn by its session and its place there, however it is written: `D1:3`, `D01:3`. */
function readTurns(text: string): string[] {
  return [...text.matchAll(/D(\d+):(\d+)/g)].map(([, session, place]) => `D${Number(session)}:${Number(place)}`)
}

function listSessions({ conversation }: Sample): { name: string; date: string; turns: Turn[] }[] {
  return Object.entries(conversation).flatMap(([name, turns]) =>
    typeof turns === 'string' || turns.length === 0
      ? []
      : [{ name, date: String(conversation[`${name}_date_time`]), turns }],
  )
}

function sayTurn({ speaker, text }: Turn): string {
  return `${speaker}: ${text}`
}

/** What becomes a memory: each turn, each session as a whole below its date, or each fact that somebody wrote down of a turn. */
const kinds = {
  turns: (sample: Sample): Text[] =>
    listSessions(sample).flatMap(({ name, turns }) =>
      turns.map((turn) => ({ id: turn.dia_id, text: sayTurn(turn), session: name, turns: readTurns(turn.dia_id) })),
    ),
  sessions: (sample: Sample): Text[] =>
    listSessions(sample).map(({ name, date, turns }) => ({
      id: name,
      text: [date, ...turns.map(sayTurn)].join('\n'),
      session: name,
      turns: turns.flatMap(({ dia_id }) => readTurns(dia_id)),
    })),
  facts: ({ observation }: Sample): Text[] =>
    Object.entries(observation).flatMap(([name, bySpeaker]) =>
      Object.values(bySpeaker)
        .flat()
        .map(([text, turns], at) => ({
          id: `${name}-${at}`,
          text,
          session: name.replace('_observation', ''),
          turns: [turns].flat().flatMap(readTurns),
        })),
    ),
}

function judgeTexts(sample: Sample, texts: readonly Text[]): Judged[] {
  return sample.qa.flatMap(({ question, evidence }) => {
    const wanted = new Set(evidence.flatMap(readTurns))
    const answering = texts.filter(({ turns }) => turns.some((turn) => wanted.has(turn)))
    return answering.length === 0 ? [] : [{ question, gains: new Map(answering.map(({ id }) => [id, 1])) }]
  })
}

export type LocomoKind = keyof typeof kinds
export const locomoKinds = Object.keys(kinds) as LocomoKind[]

/** One collection for each conversation. */
export function readLocomo(file: string, kind: LocomoKind): Collection[] {
  const samples = JSON.parse(readFileSync(file, 'utf8')) as Sample[]
  return samples.map((sample) => {
    const texts = kinds[kind](sample)
    return { texts, judged: judgeTexts(sample, texts) }
  })
}
