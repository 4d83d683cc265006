// What a pull request of a patch says: what was found, how it was validated, what ran. Texts of models and repositories are
// shown as quotations, so that they address nobody and close nothing.
import type { Finding, PatchProposal } from '../../contract/api/scans/findings.ts'
import { tryParseJson } from '../../contract/schema/json.ts'

const longestTitle = 200
const longestText = 4000

/** Without mentions, references and markup of the code host. */
function quote(text: string): string {
  const cut = text.length <= longestText ? text : `${text.slice(0, longestText)} [cut]`
  const plain = cut.replace(/[@#]/g, '$&\u200b').replace(/</g, '&lt;').replace(/!\[/g, '!\u200b[')
  return plain
    .split(/\r\n|\r|\n/)
    .map((line) => `> ${line}`)
    .join('\n')
}

function section(title: string, text: string | undefined): string[] {
  return text === undefined || text.trim() === '' ? [] : [`### ${title}`, '', quote(text), '']
}

function describeValidation({ validationStatus, validationJSON }: Finding): string {
  const said = tryParseJson(validationJSON ?? '') as { summary?: unknown } | undefined
  const summary = typeof said?.summary === 'string' ? `\n${said.summary}` : ''
  return `${validationStatus}${summary}`
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
  const title = finding.title.replace(/\s+/g, ' ').replace(/[@#]/g, '$&\u200b').slice(0, longestTitle)
  const place = filePath === undefined ? [] : [`Place: \`${filePath.replaceAll('`', "'")}${line ? `:${line}` : ''}\``]
  const body = [
    `Finding: \`${id}\` (severity ${severity}, confidence ${confidence})`,
    ...place,
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
