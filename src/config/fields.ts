// How a setting is declared: its schema, its help, and the parsing that flags, environment and file share.
import { z } from 'zod'
import { Network, unknownHosts } from '../contract/kinds/tasks/network.ts'

type SettingOptions = {
  help: string
  /** An example value, for settings whose default or allowed values do not show one. */
  example?: string
  /** Never printed. */
  secret?: boolean
  /** Shown in help instead of the type. */
  placeholder?: string
  /** Entries may also have a variable each: its name goes on with `_<KEY>`, and the entry is `<KEY>=<value>`. */
  keyed?: true
  /** The environment variable, when it is not SVC_<NAME>. */
  env?: string
}

export type Setting<S extends z.ZodType = z.ZodType> = SettingOptions & { schema: S }

export function define<S extends z.ZodType>(schema: S, options: SettingOptions): Setting<S> {
  return { schema, ...options }
}

const goDuration = /^(\d+(\.\d+)?(ms|s|m|h))+$/
export const duration = z.string('must be a duration').regex(goDuration, 'must be a duration such as 30s, 15m or 1h30m')
export const retention = z
  .string('must be a duration or days')
  .refine((value) => /^\d+d$/.test(value) || goDuration.test(value), 'must be days or a duration, such as 90d or 12h')
/** The same, where 0 means forever. */
export const retentionOrEver = z.unknown().transform((value, context): string => {
  if (value === 0 || value === '0') return '0d'
  const parsed = retention.safeParse(value)
  if (parsed.success) return parsed.data
  context.addIssue('must be days or a duration, such as 30d or 12h, or 0')
  return z.NEVER
})
export const textValue = z.string('must be text').min(1, 'must not be empty')
const list = z.union([z.array(z.string()), z.string().transform((all) => all.split(',').map((item) => item.trim()))], {
  error: 'must be names with commas between them, or a list',
})
export const names = list.transform((items) => items.filter((item) => item !== ''))
/** Each one once; the first may have a special meaning. */
export const namespaces = names
  .pipe(z.array(z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, 'must be names of namespaces such as team-a')))
  .transform((items) => [...new Set(items)])
const portNumber = z.int().min(1).max(65_535)
export const portNumbers = z.preprocess(
  (value) => (typeof value === 'string' ? value.split(',') : [value].flat()).map(Number),
  z.array(portNumber, { error: 'must be ports with commas between them' }),
)
const network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], {
  error: 'must be addresses or networks such as 10.0.0.0/8 with commas between them',
})
export const networks = names.pipe(z.array(network))
/** `urgent=800`: a name and the lowest number it applies to. */
export const thresholds = list.transform((items, context) => {
  return items
    .filter((item) => item !== '')
    .map((item) => {
      const [, name, number] = /^([a-z0-9][a-z0-9.-]*)=(\d{1,4})$/.exec(item) ?? []
      if (name === undefined) context.addIssue({ code: 'custom', message: `${item} must be name=number` })
      return { name: name ?? '', atLeast: Number(number) }
    })
})
/** `qwen=qwen --acp`: a name and a command, whose words have spaces between them. */
export const commands = list.transform((items, context) => {
  return items
    .filter((item) => item !== '')
    .map((item) => {
      const [, name = '', command = ''] = /^([a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)=\s*(\S.*)$/.exec(item) ?? []
      if (name === '') context.addIssue({ code: 'custom', message: `${item} must be name=command` })
      return { name, command: command.trim().split(/\s+/) }
    })
})
/** `qwen=registry.example/qwen:1`: a name and an image. */
export const images = list.transform((items, context) => {
  return items
    .filter((item) => item !== '')
    .map((item) => {
      const [, name = '', image = ''] = /^([a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)=(\S+)$/.exec(item) ?? []
      if (name === '') context.addIssue({ code: 'custom', message: `${item} must be name=image` })
      return { name, image }
    })
})
/** Hosts and presets of a network. */
export const networkEntries = names.pipe(Network.shape.allow)
/** `team-a=codehost *.example.com`: a namespace and its allowlist, with spaces between the entries; `ask` and `allow` say what becomes of others. */
export const namespaceNetworks = list.transform((items, context) => {
  return items
    .filter((item) => item !== '')
    .map((item) => {
      const [, namespace = '', text = ''] = /^([a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)=\s*(\S.*)$/.exec(item) ?? []
      const words = text.trim().split(/\s+/)
      const onUnknown = unknownHosts.find((word) => words.includes(word)) ?? 'refuse'
      const { data } = Network.safeParse({ allow: words.filter((word) => word !== onUnknown), onUnknown })
      if (namespace === '' || data === undefined) {
        const message = `${item} must be namespace=hosts and presets with spaces between them`
        context.addIssue({ code: 'custom', message })
      }
      return { namespace, network: data ?? { allow: [], onUnknown } }
    })
})
export const booleanValue = z.union([z.boolean(), z.stringbool()], { error: 'must be true or false' })

/** A whole number, as text or as a YAML number. */
export function whole(minimum: number, maximum: number = Number.MAX_SAFE_INTEGER) {
  const range = maximum === Number.MAX_SAFE_INTEGER ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`
  const error = `must be a whole number ${range}`
  const digits = z
    .string(error)
    .regex(/^\d{1,15}$/, error)
    .transform(Number)
  return z.union([z.number(error), digits], { error }).pipe(z.int(error).min(minimum, error).max(maximum, error))
}

/** Bytes, in the notation of Kubernetes. */
export const quantity = z
  .string('must be a quantity')
  .regex(/^\d{1,15}(Ki|Mi|Gi|Ti|k|M|G|T)?$/, 'must be a quantity such as 512Mi or 2Gi')

/** Cores, in the notation of Kubernetes. */
export const cores = z
  .string('must be a number of cores')
  .regex(/^(\d{0,4}[1-9]\d{0,4}m?|\d{1,4}\.\d{0,2}[1-9])$/, 'must be a number of cores such as 2, 0.5 or 500m')

export function oneOf<const T extends readonly string[]>(values: T) {
  return z.enum(values, { error: `must be one of ${values.join(', ')}` })
}
