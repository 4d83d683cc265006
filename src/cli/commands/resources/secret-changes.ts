// secret update and edit: keys are shown, values never.
import type { Command } from 'commander'
import type { Client } from '../../../client/client.ts'
import { listSecrets, type SecretItem, updateSecret } from '../../../contract/api/resources/secrets.ts'
import { isJsonObject } from '../../../contract/schema/json.ts'
import { SvcError } from '../../../errors.ts'
import type { CliContext, GlobalOptions } from '../../context.ts'
import { addValueOptions, collectValues, type ValueOptions } from '../../files/secret-values.ts'
import { gather, namespaceOf, readGlobalOptions } from '../../global-options.ts'
import { readDocument } from '../../objects/edit-object.ts'
import { requireSome } from '../../objects/spec-options.ts'
import { formatYaml } from '../../output/output.ts'
import { listPages } from '../../output/paging.ts'

type Changes = { stringData: Record<string, string>; remove: string[] }
type SecretCall = { name: string; client: Client; options: GlobalOptions; context: CliContext }

export function addSecretChanges(group: Command, context: CliContext): void {
  const openCall = async (name: string, command: Command): Promise<SecretCall> => {
    const options = readGlobalOptions(command)
    return { name, client: await context.connect(options), options, context }
  }
  addValueOptions(group.command('update <name>').description('replace or add values; the other keys stay'))
    .option('--remove <key>', 'take a key out; may be repeated', gather)
    .action(async (name: string, given: ValueOptions & { remove?: string[] }, command: Command) => {
      requireSome(given, ['--from-file <pair>', '--from-env <pair>', '--remove <key>'], 'secret')
      const stringData = await collectValues(given, context)
      await send(await openCall(name, command), { stringData, remove: given.remove ?? [] })
    })
  group
    .command('edit <name>')
    .description('replace values in $EDITOR, which shows the keys alone')
    .action(async (name: string, _given: unknown, command: Command) => edit(await openCall(name, command)))
}

async function send({ name, client, options, context }: SecretCall, changes: Changes): Promise<void> {
  const changed = await client.call(updateSecret, { params: { name }, query: namespaceOf(options), body: changes })
  context.terminal.note(`secret ${name} has ${changed.keys.join(', ')}`)
}

async function findKeys({ name, client, options }: SecretCall): Promise<string[]> {
  const { items } = await listPages<SecretItem>(client, listSecrets, { query: namespaceOf(options) })
  const found = items.find((item) => item.name === name)
  if (found === undefined) throw new SvcError('NotFound', `secret not found: "${name}"`)
  return found.keys
}

const preface = `# The keys of the secret; its values are not shown. A key that is left empty keeps its value, a line that is taken out
# is removed with its value, and a new line adds one.
`

async function edit(call: SecretCall): Promise<void> {
  const { name, context } = call
  const keys = await findKeys(call)
  const unchanged = Object.fromEntries(keys.map((key) => [key, '']))
  const before = `${preface}${await formatYaml(unchanged)}\n`
  const after = await context.editText(before, `${name}.yaml`)
  const { parse } = await import('yaml')
  const changes = readChanges(keys, after === before ? unchanged : readDocument(() => parse(after)))
  const isNothing = changes.remove.length === 0 && Object.keys(changes.stringData).length === 0
  if (isNothing) return context.terminal.note(`secret ${name} is unchanged`)
  await send(call, changes)
}

/** What is said of a fault names keys alone. */
function readChanges(keys: readonly string[], left: unknown): Changes {
  if (!isJsonObject(left))
    throw new SvcError('InvalidRequest', 'what the editor left is not a list of keys; nothing was changed')
  const given = Object.entries(left).filter(([, value]) => value !== '' && value !== null)
  const odd = given.find(([, value]) => typeof value !== 'string' && typeof value !== 'number')
  if (odd !== undefined) throw new SvcError('InvalidRequest', `the value of ${odd[0]} is not text: put it into quotes`)
  return {
    stringData: Object.fromEntries(given.map(([key, value]) => [key, String(value)])),
    remove: keys.filter((key) => !Object.hasOwn(left, key)),
  }
}
