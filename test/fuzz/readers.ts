// Whatever of the service reads texts of others, as plain functions: answers of models, results of tools, payloads of webhooks,
// names and files of repositories, SARIF, lines of logs.

import { ansiPieces } from '../../dashboard/src/parts/ansi.ts'
import { parseDiff } from '../../dashboard/src/parts/diff/diff.ts'
import { readMarkdown } from '../../dashboard/src/parts/markdown/tokens.ts'
import { visible } from '../../dashboard/src/parts/visible-text.ts'
import { readPullRequest } from '../../src/cli/commands/monitors/monitor-why.ts'
import { tryParseDuration } from '../../src/contract/values/duration.ts'
import { tryParseQuantity } from '../../src/contract/values/quantity.ts'
import { readGitAddress, readRepositoryUrl } from '../../src/contract/values/repository-url.ts'
import { summarizeBody } from '../../src/llm/call/vendor-error.ts'
import { planSteps } from '../../src/llm/demo/instructions.ts'
import { createOpenRedactor, createRedactor, redactJsonLine, redactText } from '../../src/observability/redaction.ts'
import { readEvent } from '../../src/rules/codehost/event.ts'
import { writeStatus } from '../../src/rules/codehost/status-comment.ts'
import { searchTerms } from '../../src/rules/memory/search-terms.ts'
import { readDiffLines } from '../../src/rules/monitors/diff-lines.ts'
import { writeInlineComment } from '../../src/rules/monitors/publish.ts'
import { readVerdict } from '../../src/rules/monitors/verdict.ts'
import { readFileFacts } from '../../src/rules/scans/file-facts.ts'
import { squeeze } from '../../src/rules/scans/finding-evidence.ts'
import { listPatchFiles } from '../../src/rules/scans/patch-check.ts'
import { readSarif } from '../../src/rules/scans/sarif-import.ts'
import { findJson, readReviewAnswer, readValidation } from '../../src/rules/scans/validation-answer.ts'
import { toLabel } from '../../src/rules/tasks/stamp.ts'

const openRedactor = createOpenRedactor(['a secret that is known'])
const redactor = createRedactor(['a secret that is known', ' '.repeat(40), '/'.repeat(40)])
const subject = { repo: 'a/b', number: 1, headSHA: 'a'.repeat(40) }
const sarif = (text: string) => ({
  version: '2.1.0',
  runs: [
    {
      tool: { driver: { name: text, rules: [{ id: text, shortDescription: { text } }] } },
      results: [
        {
          ruleId: text,
          message: { text },
          locations: [
            { physicalLocation: { artifactLocation: { uri: text }, region: { startLine: 1, snippet: { text } } } },
          ],
        },
      ],
    },
  ],
})
const comment = (text: string) => ({
  action: 'created',
  issue: { number: 1, title: text, body: text, labels: [{ name: text }], html_url: text, user: { login: text } },
  comment: { id: 1, body: text, html_url: text, user: { login: text } },
  repository: { full_name: text, name: text, owner: { login: text }, default_branch: text },
  sender: { login: text },
})
const files = [
  'a.ts',
  'a.py',
  'a.go',
  'a.java',
  'a.rb',
  'a.rs',
  'a.c',
  'a.cpp',
  'a.cs',
  'a.php',
  'a.sh',
  'a.kt',
  'a.yaml',
  'package.json',
  'go.mod',
]

export const readers: Record<string, (text: string) => unknown> = {
  'redaction of a line': redactText,
  'redaction of a growing line': openRedactor,
  'redaction with known values': redactor,
  'redaction of a line of JSON': (text) => redactJsonLine(`${JSON.stringify({ message: text })}\n`),
  'a verdict': (text) => readVerdict(text, subject, new Map()),
  'a verdict in an object': (text) => readVerdict(JSON.stringify({ summary: text }), subject, new Map()),
  'JSON in an answer': findJson,
  'an answer of a review': (text) => readReviewAnswer(text, 'slice'),
  'an answer of a validation': (text) => readValidation(text, 'finding'),
  'a list of patched files': (text) => listPatchFiles(text, 'finding'),
  'a diff': readDiffLines,
  'a file of a diff': (text) =>
    readDiffLines(`diff --git a/${text} b/${text}\n--- a/${text}\n+++ b/${text}\n@@ -1 +1 @@\n+${text}`),
  'SARIF as such': readSarif,
  'texts in SARIF': (text) => readSarif(JSON.stringify(sarif(text))),
  'a comment of the code host': (text) => readEvent('issue_comment' as never, comment(text)),
  'a status': (text) => writeStatus(text, text),
  'a comment of a review': (text) =>
    writeInlineComment({ priority: 1, title: text, body: text, recommendation: text } as never),
  'a question to memory': searchTerms,
  'a quotation': squeeze,
  'a label': toLabel,
  'an instruction of the demo': planSteps,
  'an answer that is no JSON': (text) => summarizeBody(`<!doctype html>${text}`),
  'an address of git': readGitAddress,
  'an address of a repository': (text) => readRepositoryUrl(text, ['github.com']),
  'a pull request': (text) => readPullRequest(text),
  'a quantity': tryParseQuantity,
  'a duration': tryParseDuration,
  Markdown: readMarkdown,
  'colours of a line': ansiPieces,
  'a diff in the dashboard': parseDiff,
  'text of a terminal': visible,
  ...Object.fromEntries(
    files.map((path) => [`the file ${path}`, (text: string) => readFileFacts(path, Buffer.from(text))]),
  ),
}
