// tool and skill: what can be said of one in options; anything more is for `svc apply`.
import { httpMethods } from '../../contract/resources/tool.ts'
import { SvcError } from '../../errors.ts'
import type { CliContext } from '../context.ts'
import { readOne, readReference } from '../spec-options.ts'
import type { SpecCommands } from './spec-commands.ts'

async function readText(path: string, context: CliContext): Promise<string> {
  const files = await context.readTexts(path)
  return files.map(({ text }) => text).join('\n')
}

/** JSON, or YAML, of which it is a part. */
async function readSchema(path: string, context: CliContext): Promise<unknown> {
  const { parse } = await import('yaml')
  try {
    return parse(await readText(path, context))
  } catch (error) {
    if (error instanceof SvcError) throw error
    throw new SvcError('InvalidRequest', `${path} is not JSON: ${(error as Error).message}`)
  }
}

export const toolCommands: SpecCommands = {
  description: 'make a tool that is an HTTP request',
  options: [
    {
      flags: '--description <text>',
      description: 'what it does; models read it',
      path: 'description',
      isRequired: true,
    },
    { flags: '--url <url>', description: 'address that each call is sent to', path: 'http.url', isRequired: true },
    {
      flags: '--method <method>',
      description: 'HTTP method (default: POST)',
      path: 'http.method',
      choices: httpMethods,
    },
    { flags: '--timeout <duration>', description: 'time limit of one call, such as 30s', path: 'http.timeout' },
    {
      flags: '--secret <name/key>',
      description: 'entry of a secret that holds its token',
      path: 'http.authSecretRef',
      read: readOne(readReference),
    },
    {
      flags: '--parameters <file>',
      description: 'JSON schema of its arguments, `-` for standard input',
      path: 'parameters',
      read: (given, { context }) => readSchema(String(given), context),
    },
  ],
}

export const skillCommands: SpecCommands = {
  description: 'make a skill from a file',
  options: [
    { flags: '--description <text>', description: 'what it is for', path: 'description', isRequired: true },
    {
      flags: '--from-file <path>',
      description: 'its Markdown, `-` for standard input',
      path: 'content.inline',
      isRequired: true,
      read: (given, { context }) => readText(String(given), context),
    },
    { flags: '--version <version>', description: 'its version', path: 'version' },
    { flags: '--author <name>', description: 'who wrote it', path: 'author' },
    {
      flags: '--tag <word>',
      description: 'word to find it by',
      path: 'tags',
      isRepeated: true,
      read: (given) => [given].flat(),
    },
  ],
}
