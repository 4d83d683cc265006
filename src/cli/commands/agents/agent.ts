// agent: what can be said of one in options; anything more is for `svc apply`.

import { typed } from '../../../client/typed.ts'
import { runtimeTypes } from '../../../contract/kinds/agents/runtime-types.ts'
import { readEach, readOne } from '../../objects/spec-options.ts'
import type { SpecCommands } from '../resources/spec-commands.ts'
import { askForAgent } from './agent-dialogue.ts'

export const agentCommands: SpecCommands = {
  description: 'make an agent; without a name it asks for what is needed',
  ask: askForAgent,
  options: [
    {
      flags: '--provider <name>',
      description: 'provider to ask (default: the one of the namespace)',
      path: 'providerRef',
      read: readOne((name) => ({ name })),
    },
    {
      flags: '--runtime <type>',
      description: 'agent program that does the work; --model is then PROVIDER/MODEL',
      path: 'runtime.type',
      choices: runtimeTypes,
    },
    {
      flags: '--program <name>',
      description: 'the same, with a program that the service was given by --agent-program',
      path: 'runtime.runtimeRef',
      read: readOne((name) => ({ name })),
    },
    { flags: '--model <name>', description: 'model of the provider', path: 'model.name' },
    {
      flags: '--secret <name>',
      description: 'Secret whose entries its tasks get; of a runtime: with the key of its vendor',
      path: 'secretRef',
      read: readOne((name) => ({ name })),
    },
    {
      flags: '--system <text>',
      description: 'system prompt',
      path: 'systemPrompt',
      read: readOne((inline) => ({ inline })),
    },
    {
      flags: '--tool <name>',
      description: 'tool it may use',
      path: 'tools',
      isRepeated: true,
      read: readEach((name) => ({ name })),
    },
    {
      flags: '--skill <name>',
      description: 'skill it has',
      path: 'skills',
      isRepeated: true,
      read: readEach((name) => ({ name })),
    },
  ],
  hint: (name) => `try it: ${typed(`run --agent ${name} "say hello"`)}`,
}
