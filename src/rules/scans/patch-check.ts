// Whether a patch counts: its summary must say what the workspace itself shows. What its author says about tests is no proof.
import { z } from 'zod'
import { type Finding, type PatchProposal, RanCommand, RegressionTest } from '../../contract/api/scans/findings.ts'
import { readStructuredResult } from '../../contract/api/tasks/structured-result.ts'
import { tryParseJson } from '../../lib/json.ts'
import { trimBoth } from '../../lib/trim.ts'
import { redactText } from '../../observability/redaction.ts'
import { describeValidation, findJson } from './validation-answer.ts'

const maxTitleLength = 200
const maxTextLength = 4000

/** Without mentions, references and markup of the code host. */
function quote(text: string): string {
  const cut = text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength)} [cut]`
  const plain = cut.replace(/[@#]/g, '$&\u200b').replace(/</g, '&lt;').replace(/!\[/g, '!\u200b[')
  return plain
    .split(/\r\n|\r|\n/)
    .map((line) => `> ${line}`)
    .join('\n')
}

function section(title: string, text: string | undefined): string[] {
  return text === undefined || text.trim() === '' ? [] : [`### ${title}`, '', quote(text), '']
}

function listCommands(commands: PatchProposal['testsRun'], when: string): string[] {
  return (commands ?? []).map(({ command, exitCode }) => `${when}: ${command} ended with ${exitCode}`)
}

function describeTests({ testsBefore, testsRun, regressionTest }: PatchProposal): string {
  const lines = [...listCommands(testsBefore, 'before the patch'), ...listCommands(testsRun, 'with the patch')]
  if (regressionTest !== undefined) {
    const isSeen = regressionTest.failsWithout === true
    const result = isSeen ? 'fails without the patch and passes with it' : 'was not seen to fail without the patch'
    lines.push(`regression test ${regressionTest.path} ${result}`)
  }
  return lines.length === 0 ? 'no tests: the scan names none in spec.tests' : lines.join('\n')
}

/** Title and body, in Markdown. */
export function describePullRequest(finding: Finding, patch: PatchProposal): { title: string; body: string } {
  const { id, severity, confidence, filePath, line } = finding
  const title = finding.title.replace(/\s+/g, ' ').replace(/[@#]/g, '$&\u200b').slice(0, maxTitleLength)
  const location =
    filePath === undefined ? [] : [`Place: \`${filePath.replaceAll('`', "'")}${line ? `:${line}` : ''}\``]
  const body = [
    `Finding: \`${id}\` (severity ${severity}, confidence ${confidence})`,
    ...location,
    '',
    ...section('What was found', finding.summary),
    ...section('Root cause', finding.rootCause),
    ...section('What is advised', finding.remediation),
    ...section('How it was validated', describeValidation(finding)),
    ...section('What the patch does', patch.summary),
    ...section('What the service ran', describeTests(patch)),
  ]
  return { title: `fix(security): ${title}`, body: body.join('\n').trimEnd() }
}

const commands = z.array(RanCommand).max(100).optional()

/** The answer of whoever wrote the patch. */
const PatchSummary = z.object({
  schemaVersion: z.literal(1),
  findingId: z.string(),
  summary: z.string().min(1).max(16_384),
  changedFiles: z.array(z.string()).min(1).max(10_000),
  testsRun: commands,
  regressionTest: RegressionTest.optional(),
  risk: z.enum(['low', 'medium', 'high']).optional(),
  diff: z.string().optional(),
})
type PatchSummary = z.infer<typeof PatchSummary>

export type CheckedPatch = Pick<PatchProposal, 'summary' | 'changedFiles' | 'regressionTest' | 'risk' | 'headCommit'>
export type CheckedSummary = { patch: CheckedPatch } | { problem: string }

type Workspace = ReturnType<typeof readStructuredResult>

function findWorkspaceProblem(result: Workspace, branch: string): string | undefined {
  const { pushError, pushBranch, headSHA, diff, diffTruncated } = result
  if (diff === undefined || diff.trim() === '' || headSHA === undefined) return 'nothing was changed in the workspace'
  if (diffTruncated) return 'the change is too large to be read whole: a patch of one finding must be small'
  if (pushError !== undefined) return `the branch was not pushed: ${pushError}`
  return pushBranch === branch ? undefined : 'the branch was not pushed: set spec.gitSecretRef to a login that may push'
}

/** Without what git may write differently for the same change. */
function normalizeDiff(diff: string): string {
  const lines = diff.split(/\r\n|\r|\n/).filter((line) => !line.startsWith('index '))
  return trimBoth(lines.join('\n'), '\n')
}

function findFileProblem({ changedFiles, diff: reportedDiff }: PatchSummary, { files = [], diff = '' }: Workspace) {
  const [reported, real] = [new Set(changedFiles), new Set(files)]
  const unlisted = [...real].filter((path) => !reported.has(path))
  const unchanged = [...reported].filter((path) => !real.has(path))
  const list = (paths: string[]) => paths.slice(0, 5).join(', ')
  if (unlisted.length > 0) return `the summary leaves out changed files: ${list(unlisted)}`
  if (unchanged.length > 0) return `the summary names files that were not changed: ${list(unchanged)}`
  const isSame = reportedDiff === undefined || normalizeDiff(reportedDiff) === normalizeDiff(diff)
  return isSame ? undefined : 'the diff in the summary is not the change in the workspace'
}

function findAdmission({ testsRun = [] }: PatchSummary): string | undefined {
  const broken = testsRun.find(({ exitCode }) => exitCode !== 0)
  return broken && `its author says that a test fails: ${broken.command.slice(0, 200)} ended with ${broken.exitCode}`
}

/** Only a file of the patch itself. */
function readRegression(
  { regressionTest: reported }: PatchSummary,
  { files = [] }: Workspace,
): CheckedPatch['regressionTest'] {
  return reported !== undefined && files.includes(reported.path) ? { path: reported.path } : undefined
}

/** What is kept of a patch beside its task: the change as it stands in the workspace, and what its author says of it. */
export type PatchFile = { field: 'diffArtifact' | 'summaryArtifact'; filename: string; text: string }

/** Whether or not the patch counts. */
export function listPatchFiles(resultText: string, findingId: string): PatchFile[] {
  const { diff = '', summary } = readStructuredResult(resultText)
  const files: PatchFile[] = [
    { field: 'diffArtifact', filename: `security-patch-${findingId}.diff`, text: diff },
    { field: 'summaryArtifact', filename: `security-patch-${findingId}.json`, text: findJson(summary) },
  ]
  return files.filter(({ text }) => text.trim() !== '')
}

type PatchExpectation = {
  findingId: string
  branch: string
  /** Whether the service runs tests itself; what the author admits then counts as little as what it claims. */
  isTried: boolean
}

/** `resultText`: the result of the task, which holds both the answer and what the workspace shows. */
export function checkPatch(resultText: string, { findingId, branch, isTried }: PatchExpectation): CheckedSummary {
  const result = readStructuredResult(resultText)
  const parsed = PatchSummary.safeParse(tryParseJson(findJson(result.summary)))
  if (!parsed.success) return { problem: 'the summary of the patch is not in the form that was asked for' }
  const reported = parsed.data
  if (reported.findingId !== findingId) return { problem: 'the summary of the patch is about another finding' }
  const admission = isTried ? undefined : findAdmission(reported)
  const problem = findWorkspaceProblem(result, branch) ?? findFileProblem(reported, result) ?? admission
  if (problem !== undefined) return { problem }
  const { risk } = reported
  const changedFiles = [...(result.files ?? [])].sort()
  const regressionTest = readRegression(reported, result)
  return {
    patch: { summary: redactText(reported.summary), changedFiles, regressionTest, risk, headCommit: result.headSHA },
  }
}
