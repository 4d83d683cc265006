// Code of a running attempt whose worker has no sandbox of its own: the service runs it in a pod (BUILT-024).
import { z } from 'zod'
import { Name } from '../resources/metadata.ts'
import { defineRoute, errorResponses } from './route.ts'

const mebibyte = 1_048_576
const tag = 'Worker API'
const task = z.object({ namespace: Name, taskName: Name })

/** Of a workspace that goes with its code and comes back: all files together, and their number. */
export const workspaceLimits = { bytes: 8 * mebibyte, files: 1000 } as const

/** Below /workspace, in plain words: no `.`, no `..`, nothing empty. */
export const WorkspacePath = z
  .string()
  .min(1)
  .max(1024)
  .refine(
    (path) => !path.includes('\0') && path.split('/').every((part) => !['', '.', '..'].includes(part)),
    'must be a relative path without "." and ".."',
  )

/** Below /secrets: a folder and a file in it. */
const SecretPath = z
  .string()
  .max(512)
  .regex(/^\/secrets\/[a-z]+\/(?!\.\.?$)[-._a-zA-Z0-9]+$/, 'must be a file like /secrets/task/name')

// Not zod's own check: its pattern overflows on texts of megabytes.
const Base64 = z
  .string()
  .refine((text) => /^[A-Za-z0-9+/]*={0,2}$/.test(text), 'must be base64')
  .describe('In base64')

const CarriedFile = z.strictObject({ path: WorkspacePath, content: Base64 })

/** The sum of what the texts say; base64 has four characters for three bytes. */
function isWithinLimit(files: { content: string }[]): boolean {
  return files.reduce((sum, { content }) => sum + (content.length * 3) / 4 - 2, 0) <= workspaceLimits.bytes
}

export const CodeRun = z
  .strictObject({
    argv: z.array(z.string().max(mebibyte)).min(1).max(64).describe('Executable and arguments'),
    stdin: z.string().max(mebibyte).optional(),
    env: z.record(z.string().max(256), z.string().max(mebibyte)).optional(),
    readOnlyFiles: z
      .record(SecretPath, z.string().max(mebibyte))
      .optional()
      .describe('By absolute path, beside the workspace'),
    workspaceFiles: z
      .array(CarriedFile)
      .max(workspaceLimits.files)
      .refine(isWithinLimit, 'must have at most 8 MiB together')
      .optional(),
    limits: z.strictObject({
      timeoutMs: z.int().min(1).max(60_000),
      memoryBytes: z
        .int()
        .min(mebibyte)
        .max(1024 * mebibyte),
      cpuSeconds: z.int().min(1).max(60),
      processes: z.int().min(1).max(256),
      outputBytes: z.int().min(0).max(65_536),
      diskBytes: z
        .int()
        .min(0)
        .max(256 * mebibyte),
    }),
  })
  .meta({ id: 'CodeRun' })
export type CodeRun = z.infer<typeof CodeRun>

export const CodeOutcome = z
  .object({
    exitCode: z.int().nullable(),
    signal: z.string().nullable(),
    stdout: z.string(),
    stderr: z.string(),
    stdoutTruncated: z.boolean(),
    stderrTruncated: z.boolean(),
    timedOut: z.boolean(),
    exceeded: z.enum(['memory', 'cpu', 'processes', 'disk']).optional(),
    changes: z.object({ written: z.array(CarriedFile), removed: z.array(WorkspacePath) }).optional(),
    changesLost: z.string().optional().describe('Why the workspace stays as it was'),
  })
  .meta({ id: 'CodeOutcome' })
export type CodeOutcome = z.infer<typeof CodeOutcome>

export const CodeAvailability = z.object({ languages: z.array(z.string()) }).meta({ id: 'CodeAvailability' })
export type CodeAvailability = z.infer<typeof CodeAvailability>

export const checkCode = defineRoute({
  method: 'GET',
  path: '/internal/v1/code/:namespace/:taskName',
  tag,
  summary: 'Languages of code that the service runs for the task',
  params: task,
  responses: { ...errorResponses(501), 200: { description: 'The languages', schema: CodeAvailability } },
  auth: 'worker',
})

export const runCode = defineRoute({
  method: 'POST',
  path: '/internal/v1/code/:namespace/:taskName',
  tag,
  summary: 'Run code of the task in a sandbox; it ends with the call',
  params: task,
  body: CodeRun,
  bodyLimit: 16 * mebibyte,
  responses: { ...errorResponses(501), 200: { description: 'How it went', schema: CodeOutcome } },
  auth: 'worker',
})
