// What a model is told about a namespace: its agents, tools, skills and providers.
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { ResourceOf } from '../../contract/kinds/index.ts'
import type { LookupCaches } from '../../lookup/cache.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { Resources } from '../../ports/resources/resources.ts'
import { nameOfProgram } from '../../rules/agents/programs.ts'
import { keepAllowed, mayAccess } from '../identity/access.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import type { SecretWords } from './secret-words.ts'

export const shownKinds = ['Agent', 'Tool', 'Skill', 'Provider'] as const
type ShownKind = (typeof shownKinds)[number]

/** Escaped lines for the system prompt. */
export type Surroundings = { agents: string[]; tools: string[]; skills: string[]; providers: string[] }

/** More entries would fill the context; list_agents and list_tools show all. */
const maxShown = 50
const maxDescriptionLength = 300

export type SurroundingsReader = {
  /** What the caller may see in the namespace. */
  read(caller: Caller, namespace: string): Promise<Surroundings>
}

export function createSurroundings(
  { ports }: UsecaseDeps,
  caches: LookupCaches,
  words: Pick<SecretWords, 'redactorOf'>,
): SurroundingsReader {
  const whole = caches.createCache<Surroundings>()
  const shown = caches.createCache<Surroundings>()

  async function load(namespace: string): Promise<Surroundings> {
    const redact = await words.redactorOf(namespace)
    const { agents, tools, skills, providers } = await loadAll(ports.resources, namespace)
    return {
      agents: agents.map(redact),
      tools: tools.map(redact),
      skills: skills.map(redact),
      providers: providers.map(redact),
    }
  }

  return {
    async read(caller, namespace) {
      const all = () => whole.get(namespace, { namespace, load: () => load(namespace) })
      if (caller.authType === 'contextToken') return keepNamed(ports, caller, { namespace, all: await all() })
      const visible = await Promise.all(
        shownKinds.map((kind) => mayAccess(ports, caller, { verb: 'list', kind, namespace })),
      )
      // One shared object for all callers who see the same, so that what is built from it can be cached too.
      return shown.get(`${namespace}\n${visible.join()}`, {
        namespace,
        load: async () => hideFrom(await all(), visible),
      })
    },
  }
}

function hideFrom(all: Surroundings, [agents, tools, skills, providers]: boolean[]): Surroundings {
  return {
    agents: agents ? all.agents : [],
    tools: tools ? all.tools : [],
    skills: skills ? all.skills : [],
    providers: providers ? all.providers : [],
  }
}

/** The name at the start of a line. */
export function nameOfLine(line: string): string {
  return line.split(' - ', 1)[0] ?? line
}

/** A context token may allow single names of a kind, so each is checked. */
async function keepNamed(
  ports: UsecaseDeps['ports'],
  caller: Caller,
  { namespace, all }: { namespace: string; all: Surroundings },
): Promise<Surroundings> {
  const keep = (kind: ShownKind, lines: string[]) =>
    keepAllowed(ports, caller, {
      of: lines,
      read: (line) => ({ verb: 'get', kind, namespace, name: nameOfLine(line) }),
    })
  const [agents, tools, skills, providers] = await Promise.all([
    keep('Agent', all.agents),
    keep('Tool', all.tools),
    keep('Skill', all.skills),
    keep('Provider', all.providers),
  ])
  return { agents, tools, skills, providers }
}

async function loadAll(resources: Resources, namespace: string): Promise<Surroundings> {
  const [agents, tools, skills, providers] = await Promise.all([
    loadLines(resources, { kind: 'Agent', namespace }, describeAgent),
    loadLines(resources, { kind: 'Tool', namespace }, ({ spec }) => cut(spec.description)),
    loadLines(resources, { kind: 'Skill', namespace }, ({ spec }) =>
      [spec.displayName, cut(spec.description ?? '')].filter(Boolean).join(': '),
    ),
    loadLines(resources, { kind: 'Provider', namespace }, ({ spec }) => `type ${spec.type}`),
  ])
  return { agents, tools, skills, providers }
}

/** `name - description`, one for each object. */
async function loadLines<K extends ShownKind>(
  resources: Resources,
  { kind, namespace }: { kind: K; namespace: string },
  describe: (object: ResourceOf<K>) => string,
): Promise<string[]> {
  const page = await resources.list(kind, { namespace, limit: maxShown })
  const lines = page.items.map((object) => `${object.metadata.name} - ${escapeText(describe(object))}`)
  return page.continue === undefined ? lines : [...lines, 'and more: the list tools show all']
}

function describeAgent({ spec }: Agent): string {
  const parts = [
    spec.model?.name === undefined ? undefined : `model: ${spec.model.name}`,
    spec.providerRef === undefined ? undefined : `provider: ${spec.providerRef.name}`,
    `tools: [${(spec.tools ?? []).filter((tool) => tool.enabled).map((tool) => tool.name)}]`,
    spec.runtime && `runtime: ${nameOfProgram(spec.runtime)}`,
    spec.coordination?.enabled ? 'coordinates others' : undefined,
  ]
  return parts.filter((part) => part !== undefined).join(', ')
}

function cut(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > maxDescriptionLength ? `${line.slice(0, maxDescriptionLength)}...` : line
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

export function escapeText(text: string): string {
  return text.replace(/[&<>]/g, (character) => entities[character] ?? character)
}

/** `<name>`, the lines, `</name>`. Callers escape the lines, because they know what the lines contain. */
export function makeSection(name: string, lines: string | readonly string[]): string {
  const text = typeof lines === 'string' ? lines : lines.join('\n')
  return `<${name}>\n${text}\n</${name}>`
}
