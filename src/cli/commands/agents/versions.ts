// agent versions: what an agent told its model in the course of time, and what is different between two of them.
import type { Command } from 'commander'
import { type AgentVersion, type AgentVersionContent, listAgentVersions } from '../../../contract/api/agents/agents.ts'
import { SvcError } from '../../../errors.ts'
import { callService, type ServiceCall } from '../../action.ts'
import type { CliContext } from '../../context.ts'
import { printList } from '../../output/answers.ts'
import { printDiff } from '../../output/diff-text.ts'
import { type Column, formatAge, formatYaml } from '../../output/output.ts'
import { listPages } from '../../output/paging.ts'

/** Beyond so many differences of lines nothing is compared. */
const maxEditLength = 4000

type VersionFlags = { diff?: string | true }

export function addAgentVersions(group: Command, context: CliContext): void {
  group
    .command('versions <name>')
    .description('what it told its model in the course of time: prompt, model, tools and skills, newest first')
    .option('--diff [numbers]', 'what is different: 2..5 between two, 5 since the one before it (default: the newest)')
    .action(callService(context, showVersions))
}

async function showVersions(call: ServiceCall, name: string, { diff }: VersionFlags): Promise<void> {
  const { client, options, context, query } = call
  const { items } = await listPages<AgentVersion>(client, listAgentVersions, { params: { name }, query })
  if (diff !== undefined) return showDifference(call, chooseTwo(items, diff, name))
  const empty = `no version of ${name} is known yet: one is noted as soon as its prompt can be read`
  await printList(context, options, { items, columns: columnsOf(items, context.now()), empty })
}

/** Names of the fields in which the contents differ. */
function listChanges(before: AgentVersionContent, after: AgentVersionContent): string[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof AgentVersionContent>
  return [...keys].filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
}

function columnsOf(items: readonly AgentVersion[], now: Date): Column<AgentVersion>[] {
  const byNumber = new Map(items.map(({ number, content }) => [number, content]))
  const describeChange = ({ number, content }: AgentVersion) => {
    const before = byNumber.get(number - 1)
    return before === undefined ? '' : listChanges(before, content).join(',')
  }
  return [
    { title: 'NUMBER', value: ({ number }) => number },
    { title: 'AGE', value: ({ since }) => formatAge(since, now) },
    { title: 'SINCE', value: ({ since }) => since, wide: true },
    { title: 'PROVIDER', value: ({ content }) => content.providerRef?.name, wide: true },
    { title: 'MODEL', value: ({ content }) => content.model?.name },
    { title: 'PROGRAM', value: ({ content }) => content.program },
    { title: 'TOOLS', value: ({ content }) => content.tools?.join(','), wide: true },
    { title: 'SKILLS', value: ({ content }) => content.skills?.join(','), wide: true },
    { title: 'CHANGED', value: describeChange },
    { title: 'PROMPT', value: ({ content }) => content.prompt },
  ]
}

/** InvalidRequest where there are no two, or none of these numbers. */
function chooseTwo(items: readonly AgentVersion[], wanted: string | true, name: string): [AgentVersion, AgentVersion] {
  const words = wanted === true ? [`${items[0]?.number ?? 1}`] : wanted.split('..')
  const last = Number(words.at(-1))
  const [from, to] = words.length === 2 ? [Number(words[0]), last] : [last - 1, last]
  const find = (number: number) => items.find((item) => item.number === number)
  const [before, after] = [find(from), find(to)]
  if (before !== undefined && after !== undefined) return [before, after]
  const known = items.map(({ number }) => number).join(', ') || 'none'
  throw new SvcError(
    'InvalidRequest',
    `--diff needs two versions of ${name}, as 2..5, or 5 with 4; there are: ${known}`,
  )
}

/** The settings as YAML, and below them the prompt as it is. */
async function writeContent({ prompt = '', ...settings }: AgentVersionContent): Promise<string> {
  const yaml = Object.keys(settings).length === 0 ? '' : `${await formatYaml(settings)}\n`
  return `${yaml}---\n${prompt.trimEnd()}\n`
}

async function showDifference(call: ServiceCall, [a, b]: [AgentVersion, AgentVersion]): Promise<void> {
  const { createTwoFilesPatch, FILE_HEADERS_ONLY: headerOptions } = await import('diff')
  const [before, after] = [await writeContent(a.content), await writeContent(b.content)]
  const [from, to] = [`version ${a.number}`, `version ${b.number}`]
  const options = { headerOptions, maxEditLength }
  const patch = createTwoFilesPatch(from, to, before, after, undefined, undefined, options)
  const diff = before === after ? '' : (patch ?? `--- ${from}\n+++ ${to}\ntoo little in common to compare\n`)
  await printDiff(call, { from: a.number, to: b.number, diff }, `versions ${a.number} and ${b.number} are the same`)
}
