// Changes an object in the person's editor.
import type { Client } from '../../client/client.ts'
import { SvcError } from '../../errors.ts'
import type { CliCall } from '../context.ts'
import { namespaceOf } from '../global-options.ts'
import { formatYaml } from '../output/output.ts'
import type { CatalogEntry } from './catalog.ts'
import { pickOwn } from './own-fields.ts'

type Stored = Record<string, unknown> & { metadata: { resourceVersion?: string } }

export async function editObject(
  client: Client,
  entry: CatalogEntry,
  name: string,
  { options, context }: CliCall,
): Promise<void> {
  const [word] = entry.words
  const target = { params: { [entry.parameter]: name }, query: namespaceOf(options) }
  const before = await describeForEditor(word, (await client.call(entry.get, target)) as unknown as Stored)
  const after = await context.editText(before, `${name}.yaml`)
  if (after === before) return context.terminal.note(`${word} ${name} is unchanged`)
  const { parse } = await import('yaml')
  await client.call(entry.update, { ...target, body: readDocument(() => parse(after)) })
  context.terminal.note(`${word} ${name} was changed`)
}

/** The fields that a person may change, and the version that they saw. */
async function describeForEditor(word: string, stored: Stored): Promise<string> {
  const own = pickOwn(stored)
  const { resourceVersion } = stored.metadata
  const text = await formatYaml({ ...own, metadata: { ...own.metadata, resourceVersion } })
  return `# Save and leave the editor to change the ${word}; leave it unchanged to change nothing.\n${text}\n`
}

/** InvalidRequest when it is not YAML. */
export function readDocument(parse: () => unknown): object {
  try {
    return parse() as object
  } catch (error) {
    throw new SvcError('InvalidRequest', `the edited text is not valid YAML: ${(error as Error).message}`)
  }
}
