// scan slices, scan coverage: how a tree is cut for review, and how much of what is known to be weak that covers.
import { basename, resolve } from 'node:path'
import type { Command } from 'commander'
import type { SliceDraft } from '../../../contract/api/scans/runs.ts'
import { SvcError } from '../../../errors.ts'
import { type Coverage, measureCoverage, readKnownLocations } from '../../../rules/scans/known-locations.ts'
import { buildReviewContext, listContextPaths } from '../../../rules/scans/review-context.ts'
import { type SelectedSlice, selectSlices } from '../../../rules/scans/slice-selection.ts'
import type { TreeCounts } from '../../../rules/scans/slices.ts'
import { withCall } from '../../action.ts'
import type { CliCall, CliContext, OpenedTree } from '../../context.ts'
import { formatItems, printAnswer, shapeOf } from '../../output/answers.ts'

type TreeFlags = { ref?: string; files?: boolean; subPath?: string; name?: string }
type SliceFlags = TreeFlags & { since?: string; leftOut?: boolean; show?: string }

export function addSliceCommands(scan: Command, context: CliContext): void {
  addTreeOptions(scan.command('slices <folder>'))
    .description('cut a tree into the parts that a scan reviews, without a model')
    .option('--since <commit>', 'mark what an incremental run would review: what changed since this commit')
    .option('--left-out', 'list the files that are left out, with the reason')
    .option('--show <id>', 'print what a reviewer of this slice is shown, as JSON')
    .action(withCall(context, preview))
  addTreeOptions(scan.command('coverage <folder> <list>'))
    .description('the share of known weak places (a CSV file) that the slices and their contexts hold')
    .action(withCall(context, cover))
}

function addTreeOptions(command: Command): Command {
  return command
    .option('--ref <ref>', 'branch, tag or commit of the repository (default: HEAD)')
    .option('--files', 'the files as they lie in the folder, committed or not')
    .option('--sub-path <folder>', 'only this folder of it')
    .option('--name <scan>', 'name of the scan, from which ids are made (default: the name of the folder)')
}

async function open(context: CliContext, folder: string, flags: SliceFlags): Promise<OpenedTree> {
  const { ref, files: asItLies, subPath, since, name: scanName = basename(resolve(folder)) } = flags
  return await context.sliceTree(folder, { ref, asItLies, subPath, since, scanName })
}

async function contextOf(tree: OpenedTree, slice: SliceDraft) {
  const contents = await tree.read(listContextPaths(slice))
  return buildReviewContext(slice, (path) => contents.get(path))
}

async function preview({ options, context }: CliCall, folder: string, flags: SliceFlags): Promise<void> {
  const tree = await open(context, folder, flags)
  const { commit, sliced, changes } = tree
  if (flags.show !== undefined) return await show(tree, flags.show, context)
  if (flags.leftOut) {
    return await printAnswer(context, options, sliced.leftOut, () =>
      sliced.leftOut.map(({ path, reason }) => `${reason}  ${path}`).join('\n'),
    )
  }
  const selected = selectSlices(sliced, changes, changes !== undefined)
  const slices = selected.map(({ slice, review }) => ({ ...slice, ...(changes && { review }) }))
  const answer = { ...(commit !== undefined && { commit }), counts: sliced.counts, slices }
  await printAnswer(context, options, answer, () => formatSlices(selected, context, options))
  if (options.output === 'table') context.terminal.note(describe(commit, selected, sliced.counts))
}

function formatSlices(
  selected: SelectedSlice[],
  { terminal }: CliContext,
  options: Parameters<typeof shapeOf>[0],
): string {
  const byTitle = selected.toSorted((a, b) => (a.slice.title < b.slice.title ? -1 : 1))
  const skips = selected.some(({ review }) => !review)
  return formatItems(
    byTitle,
    [
      { title: 'ID', value: ({ slice }) => slice.id },
      { title: 'REVIEW', value: ({ review }) => (skips ? (review ? 'yes' : 'skip') : undefined) },
      { title: 'OWNED', value: ({ slice }) => slice.ownedFiles.length },
      { title: 'CONTEXT', value: ({ slice }) => slice.contextFiles?.length || undefined },
      { title: 'TESTS', value: ({ slice }) => slice.tests?.length || undefined },
      { title: 'SURE', value: ({ slice }) => slice.confidence },
      { title: 'TITLE', value: ({ slice }) => slice.title },
      { title: 'ENTERED AT', wide: true, value: ({ slice }) => slice.entrypoints?.map(({ path }) => path).join(',') },
      { title: 'BOUNDARIES', wide: true, value: ({ slice }) => slice.trustBoundaries?.join(',') },
    ],
    shapeOf(options, terminal.width),
  )
}

function describe(
  commit: string | undefined,
  selected: SelectedSlice[],
  { files, owned, tests, leftOut }: TreeCounts,
): string {
  const reviewed = selected.filter(({ review }) => review).length
  const reasons = Object.entries(leftOut).map(([reason, count]) => `${count} ${reason}`)
  const out = reasons.length === 0 ? 'none left out' : `left out: ${reasons.join(', ')}`
  const at = commit === undefined ? '' : ` at ${commit.slice(0, 12)}`
  const skipped = reviewed === selected.length ? '' : `, ${reviewed} of them to review`
  return `${selected.length} slices${at}${skipped}; ${files} files: ${owned} owned, ${tests} tests, ${out}`
}

async function show(tree: OpenedTree, id: string, context: CliContext): Promise<void> {
  const slice = tree.sliced.slices.find((one) => one.id === id)
  if (slice === undefined)
    throw new SvcError('InvalidRequest', `there is no slice ${id}: the list without --show has them all`)
  context.terminal.print(JSON.stringify(await contextOf(tree, slice), undefined, 2))
}

async function readLocations(context: CliContext, list: string) {
  const [file] = await context.readTexts(list)
  const locations = readKnownLocations(file?.text ?? '')
  if (locations !== undefined && locations.length > 0) return locations
  const advice = 'its first line must name the columns, one of them "path" or "test name"; "line" is optional'
  throw new SvcError('InvalidRequest', `${list} names no places: ${advice}`)
}

async function cover({ options, context }: CliCall, folder: string, list: string, flags: TreeFlags): Promise<void> {
  const locations = await readLocations(context, list)
  const tree = await open(context, folder, flags)
  const { slices } = tree.sliced
  const contents = await tree.read([...new Set(slices.flatMap(listContextPaths))])
  const coverage = measureCoverage(locations, slices, (slice) =>
    buildReviewContext(slice, (path) => contents.get(path)),
  )
  await printAnswer(context, options, coverage, () => describeCoverage(coverage))
}

function describeCoverage({ places, owned, shown, missed }: Coverage): string {
  const share = (count: number) => `${((count / places) * 100).toFixed(1)}% (${count} of ${places})`
  const lines = [`in the files of a slice: ${share(owned)}`, `shown to its reviewer: ${share(shown)}`]
  const names = missed.map(({ name, line }) => (line === undefined ? name : `${name}:${line}`))
  return [...lines, ...(names.length > 0 ? [`not shown: ${names.join(', ')}`] : [])].join('\n')
}
