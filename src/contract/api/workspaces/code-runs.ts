// Code of a running attempt that has no sandbox of its own: the service runs it, in a pod or beside a runner (BUILT-024).
import { z } from 'zod'
import { isInnerPath } from '../../../lib/inner-path.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { errorResponses, workerRoutes } from '../resources/route.ts'

const mebibyte = 1_048_576

/** Limits of a workspace that is sent along with code and comes back: the size of all files, and their number. */
export const workspaceLimits = { bytes: 8 * mebibyte, files: 1000 } as const

/** A path below /workspace, without `.`, `..` or empty parts. */
export const WorkspacePath = limitedText(1024)
  .min(1)
  .refine(isInnerPath, 'must be a relative path without "." and ".."')

/** A path below /secrets: a folder and a file in it. */
const SecretPath = limitedText(512).regex(
  /^\/secrets\/[a-z]+\/(?!\.\.?$)[-._a-zA-Z0-9]+$/,
  'must be a file like /secrets/task/name',
)

// Not zod's own check: its pattern overflows on texts of megabytes.
const Base64 = z
  .string()
  .refine((text) => /^[A-Za-z0-9+/]*={0,2}$/.test(text), 'must be base64')
  .describe('In base64')

const CarriedFile = z.strictObject({
  path: field(WorkspacePath, 'Path in the workspace.', 'out/report.md'),
  content: field(Base64, 'Content in Base64.', 'aGVsbG8K'),
})

/** Whether the decoded files fit; base64 has four characters for three bytes. */
function isWithinLimit(files: { content: string }[]): boolean {
  return files.reduce((sum, { content }) => sum + (content.length * 3) / 4 - 2, 0) <= workspaceLimits.bytes
}

/** A program to run in a sandbox of the service. */
export const CodeRun = z
  .strictObject({
    argv: field(z.array(limitedText(mebibyte)).min(1).max(64), 'Program and arguments.', ['python', 'main.py']),
    stdin: field(limitedText(mebibyte).optional(), 'What the program reads from its standard input.', 'hello'),
    env: field(z.record(limitedText(256), limitedText(mebibyte)).optional(), 'Environment variables.', {
      LOG_LEVEL: 'debug',
    }),
    readOnlyFiles: field(
      z.record(SecretPath, limitedText(mebibyte)).optional(),
      'Read-only files outside the workspace, by absolute path.',
      { '/secrets/task/token': 'value' },
    ),
    workspaceFiles: field(
      z
        .array(CarriedFile)
        .max(workspaceLimits.files)
        .refine(isWithinLimit, 'must have at most 8 MiB together')
        .optional(),
      'Files of the workspace, at most 8 MiB together.',
    ),
    limits: field(
      z.strictObject({
        timeoutMs: field(z.int().min(1).max(60_000), 'Time limit in milliseconds.', 30000),
        memoryBytes: field(
          z
            .int()
            .min(mebibyte)
            .max(1024 * mebibyte),
          'Memory in bytes.',
          268435456,
        ),
        cpuSeconds: field(z.int().min(1).max(60), 'CPU time in seconds.', 30),
        processes: field(z.int().min(1).max(256), 'Processes at once.', 64),
        outputBytes: field(z.int().min(0).max(65_536), 'Bytes of each output stream that are kept.', 65536),
        diskBytes: field(
          z
            .int()
            .min(0)
            .max(256 * mebibyte),
          'Bytes that the run may write.',
          67108864,
        ),
      }),
      'Limits of the run.',
    ),
  })
  .meta({ id: 'CodeRun' })
export type CodeRun = z.infer<typeof CodeRun>

/** How a run ended and what it wrote. */
export const CodeOutcome = z
  .object({
    exitCode: field(z.int().nullable(), 'Exit code; null when a signal ended the program.', 0),
    signal: field(z.string().nullable(), 'Signal that ended the program, or null.', 'SIGKILL'),
    stdout: field(z.string(), 'What the program wrote to its standard output.', 'hello'),
    stderr: field(z.string(), 'What the program wrote to its standard error.', ''),
    stdoutTruncated: field(z.boolean(), 'Whether the standard output was cut.'),
    stderrTruncated: field(z.boolean(), 'Whether the standard error was cut.'),
    timedOut: field(z.boolean(), 'Whether the time limit ended the run.'),
    exceeded: field(z.enum(['memory', 'cpu', 'processes', 'disk']).optional(), 'Limit that was exceeded.'),
    changes: field(
      z
        .object({
          written: field(z.array(CarriedFile), 'Files that were written.'),
          removed: field(z.array(WorkspacePath), 'Paths that were removed.', ['tmp/old.txt']),
        })
        .optional(),
      'What the run changed in the workspace.',
    ),
    changesLost: field(
      z.string().optional(),
      'Why the workspace stays as it was.',
      'the changes are larger than 8 MiB',
    ),
  })
  .meta({ id: 'CodeOutcome' })
export type CodeOutcome = z.infer<typeof CodeOutcome>

/** Which languages can run for a task. */
export const CodeAvailability = z
  .object({
    languages: field(z.array(z.string()), 'Languages that can run here.', ['python', 'bash']),
    seesWorkspace: field(
      z.boolean().optional(),
      'Whether code sees the folder of the attempt itself; otherwise its files are sent along, and come back.',
    ),
  })
  .meta({ id: 'CodeAvailability' })
export type CodeAvailability = z.infer<typeof CodeAvailability>

export const checkCode = workerRoutes.get('/code/:namespace/:taskName', {
  summary: 'Languages of code that the service runs for the task',
  description: 'Answers the languages of code that the service can run for the task.',
  responses: { ...errorResponses(501), 200: { description: 'The languages', schema: CodeAvailability } },
})

export const runCode = workerRoutes.post('/code/:namespace/:taskName', {
  summary: 'Run code of the task in a sandbox; it ends with the call',
  description: 'Runs code in a sandbox of the service. The run ends when the connection is closed.',
  body: CodeRun,
  bodyLimit: 16 * mebibyte,
  responses: { ...errorResponses(501), 200: { description: 'How it went', schema: CodeOutcome } },
})
