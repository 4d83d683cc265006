// tool and skill: what can be said of one in options; anything more is for `svc apply`.
import { httpMethods } from '../../../contract/kinds/tools/tool-http.ts'
import { readFileTexts, readOne, readReference, readSchema } from '../../objects/spec-options.ts'
import type { SpecCommands } from '../resources/spec-commands.ts'

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
      names: 'secret',
      read: readOne(readReference),
    },
    {
      flags: '--parameters <file>',
      description: 'JSON schema of its arguments, `-` for standard input',
      path: 'parameters',
      read: (value, { context }) => readSchema(String(value), context),
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
      read: (value, { context }) => readFileTexts(String(value), context),
    },
    { flags: '--version <version>', description: 'its version', path: 'version' },
    { flags: '--author <name>', description: 'who wrote it', path: 'author' },
    {
      flags: '--tag <word>',
      description: 'word to find it by',
      path: 'tags',
      isRepeated: true,
      read: (value) => [value].flat(),
    },
  ],
}
