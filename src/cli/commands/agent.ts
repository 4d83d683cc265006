// agent create: an agent from options; anything more is for `svc apply`.
import type { Command } from 'commander'
import { createAgent } from '../../contract/api/agents.ts'
import type { CliContext } from '../context.ts'
import { gather, namespaceOf, readGlobalOptions } from '../global-options.ts'
import { typed } from '../typed.ts'

type AgentOptions = { provider?: string; model?: string; system?: string; tool?: string[]; skill?: string[] }

export function addAgentCreate(group: Command, context: CliContext): void {
  group
    .command('create <name>')
    .description('make an agent')
    .option('--provider <name>', 'provider to ask (default: the one named `default`)')
    .option('--model <name>', 'model of the provider')
    .option('--system <text>', 'system prompt')
    .option('--tool <name>', 'tool it may use; may be repeated', gather)
    .option('--skill <name>', 'skill it has; may be repeated', gather)
    .action((name: string, given: AgentOptions, command: Command) => create(name, given, { command, context }))
}

type Invocation = { command: Command; context: CliContext }

async function create(name: string, given: AgentOptions, { command, context }: Invocation): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  const spec = {
    ...(given.provider === undefined ? {} : { providerRef: { name: given.provider } }),
    ...(given.model === undefined ? {} : { model: { name: given.model } }),
    ...(given.system === undefined ? {} : { systemPrompt: { inline: given.system } }),
    ...(given.tool === undefined ? {} : { tools: given.tool.map((tool) => ({ name: tool })) }),
    ...(given.skill === undefined ? {} : { skills: given.skill.map((skill) => ({ name: skill })) }),
  }
  await client.call(createAgent, { body: { name, ...namespaceOf(options), spec } })
  context.terminal.note(`agent ${name} created; try it: ${typed(`run --agent ${name} "say hello"`)}`)
}
