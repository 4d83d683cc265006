// code_exec: runs a short program in the sandbox (BUILT-004..006, BUILT-020..025).
import { z } from 'zod'
import { headOfText } from '../../lib/utf8.ts'
import type { SandboxOutcome } from '../../ports/workspaces/sandbox.ts'
import { type AvailabilityContext, defineTool, type ToolContext } from '../registry/tool.ts'
import { failTool } from '../registry/tool-error.ts'

const maxTimeoutSeconds = 60
const defaultTimeoutSeconds = 30
const mebibyte = 1_048_576
/** Limit of output and error output together, as they appear in the result (BUILT-028). */
const maxOutputBytes = 61_440
/** Linux accepts at most 128 KiB in one argument; longer programs are sent on standard input. */
const maxArgumentBytes = 98_304

const runners = {
  python: { inline: ['python3', '-c'], piped: ['python3', '-'] },
  javascript: { inline: ['node', '-e'], piped: ['node', '-'] },
  bash: { inline: ['bash', '-c'], piped: ['bash', '-s'] },
} as const

type Language = keyof typeof runners

export const codeExec = defineTool({
  name: 'code_exec',
  description: 'Runs a program in a sandbox without network and returns its output. Only files in /workspace last.',
  parameters: z.strictObject({
    language: z.enum(['python', 'javascript', 'bash']),
    code: z.string().min(1).max(mebibyte),
    timeout: z.int().min(1).max(maxTimeoutSeconds).default(defaultTimeoutSeconds).describe('Seconds'),
  }),
  repeatable: false,
  ownsOutputLimit: true,
  // Its own limit ends it first, so that the output so far is kept.
  timeoutMs: (maxTimeoutSeconds + 10) * 1000,
  check: checkSandbox,
  async run({ language, code, timeout }, context, signal) {
    const available = await context.sandbox.check()
    if (!available.available) return failTool('not_configured', available.reason, available.suggestion)
    if (!available.languages.includes(language)) return failLanguage(language, available.languages)
    const outcome = await context.sandbox.run(buildCommand({ language, code, timeout }, context), signal)
    return { success: true, ...describeOutcome(outcome, timeout) }
  },
})

async function checkSandbox({ sandbox }: AvailabilityContext) {
  const state = await sandbox.check()
  if (!state.available) return state
  return { available: true } as const
}

function failLanguage(language: Language, present: string[]) {
  const program = runners[language].inline[0]
  const instead =
    present.length > 0 ? `Write it in ${present.join(' or ')}, or install ${program}.` : `Install ${program}.`
  return failTool('not_configured', `${language} cannot run here: ${program} is not installed`, instead)
}

function buildCommand(args: { language: Language; code: string; timeout: number }, context: ToolContext) {
  const { inline, piped } = runners[args.language]
  const isLong = Buffer.byteLength(args.code) > maxArgumentBytes || args.code.includes('\0')
  return {
    argv: isLong ? [...piped] : [...inline, args.code],
    ...(isLong ? { stdin: args.code } : {}),
    ...(context.sharesWorkspace ? { workspace: context.workspaceRoot } : {}),
    caller: context.caller,
    env: context.variables && { ...context.variables },
    readOnlyFiles: context.files && { ...context.files },
    limits: {
      timeoutMs: args.timeout * 1000,
      memoryBytes: 1024 * mebibyte,
      cpuSeconds: maxTimeoutSeconds,
      processes: 64,
      outputBytes: maxOutputBytes,
      diskBytes: 256 * mebibyte,
    },
  }
}

/** Both streams within one limit, as JSON; error output keeps at least a quarter of it. */
function describeOutcome(outcome: SandboxOutcome, timeout: number) {
  const error = cutAsJson(
    outcome.stderr,
    maxOutputBytes - Math.min(jsonBytes(outcome.stdout), (maxOutputBytes * 3) / 4),
  )
  const output = cutAsJson(outcome.stdout, maxOutputBytes - jsonBytes(error.text))
  const cuts = {
    output_truncated: outcome.stdoutTruncated || output.cut,
    error_truncated: outcome.stderrTruncated || error.cut,
  }
  return {
    output: output.text,
    error: error.text,
    exit_code: outcome.exitCode,
    timed_out: outcome.timedOut,
    ...cuts,
    signal: outcome.signal ?? undefined,
    exceeded: outcome.exceeded,
    ...describeNote(outcome, cuts, timeout),
  }
}

function describeNote(outcome: SandboxOutcome, cuts: Record<string, boolean>, timeout: number): { note?: string } {
  const notes: string[] = []
  if (outcome.timedOut) notes.push(`Ended after the timeout of ${timeout} s.`)
  if (outcome.exceeded !== undefined) notes.push(`Ended by the ${outcome.exceeded} limit.`)
  if (Object.values(cuts).includes(true))
    notes.push('What was printed beyond 60 KiB was cut; print less, or to a file.')
  if (outcome.changesLost !== undefined)
    notes.push(`What it did to files in /workspace is lost: ${outcome.changesLost}.`)
  return notes.length === 0 ? {} : { note: notes.join(' ') }
}

function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text))
}

/** Control characters grow up to sixfold in JSON, so the text is halved until it fits. */
function cutAsJson(text: string, maxBytes: number): { text: string; cut: boolean } {
  let head = headOfText(text, maxBytes).text
  while (jsonBytes(head) > maxBytes && head !== '') head = headOfText(head, Buffer.byteLength(head) >> 1).text
  return { text: head, cut: head.length < text.length }
}
