// Flags, then environment, then file, then defaults (CLI-005): the only reader of the environment.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { type Problem, SvcError } from '../errors.ts'
import { describeFileError } from '../lib/file-error.ts'
import type { Environment } from './environment.ts'
import { type Paths, resolvePaths } from './paths.ts'
import { environmentNameOf, flagOf, type Setting, type SettingName, type Settings, settings } from './settings.ts'

export type SettingSource = 'flag' | 'environment' | 'file' | 'default'

/** Vendor keys found in the environment; a Secret of that name refers to them, they are never copied (MODE-016). */
export type VendorKeys = { name: string; value: string }[]

export type Config = Readonly<Omit<Settings, 'mode'>> & {
  readonly mode: 'embedded' | 'kubernetes'
  /** The API server's address as given to a pod; undefined outside a cluster. */
  readonly podAddress: PodAddress | undefined
  /** The service's own pod, when it is known. */
  readonly ownPod: OwnPod | undefined
  readonly paths: Paths
  readonly vendorKeys: VendorKeys
  readonly dockerHost: string | undefined
  readonly runtimeDir: string | undefined
  /** Where programs of agents are looked up. */
  readonly programPath: string
  /** Of the user whom the service runs as. */
  readonly home: string
  readonly sources: Readonly<Record<SettingName, SettingSource>>
}

/** As the chart provides it through the downward API. */
export type OwnPod = { name: string; uid: string }

export type PodAddress = { host: string; port: string }

export type LoadOptions = {
  flags: Record<string, unknown>
  env: Environment
  /** Path of the YAML file (`--config`). */
  file?: string
}

const vendorKeyNames = ['ANTHROPIC_API_KEY', 'VENDOR_API_KEY', 'OPENAI_API_KEY']

/** InvalidRequest naming every unknown flag, unknown field and bad value (CLI-006). */
export function loadConfig(options: LoadOptions): Config {
  const file = options.file === undefined ? {} : readConfigFile(options.file)
  const problems: Problem[] = [...unknownNames(options.flags, '--'), ...unknownNames(file, '')]
  const values: Record<string, unknown> = {}
  const sources: Record<string, SettingSource> = {}
  for (const name of Object.keys(settings) as SettingName[]) {
    const [value, source] = pickValue(name, options, file)
    const parsed = settings[name].schema.safeParse(value)
    if (parsed.success) values[name] = parsed.data
    else
      problems.push({
        path: describeOrigin(name, source),
        message: parsed.error.issues.map((i) => i.message).join('; '),
      })
    sources[name] = source
  }
  if (problems.length > 0) throw new SvcError('InvalidRequest', describeProblems(problems), { details: problems })
  const config = values as Settings
  return Object.freeze({
    ...config,
    ...settleDeployment(config, sources, options.env),
    paths: resolvePaths(options.env, config),
    vendorKeys: findVendorKeys(options.env),
    dockerHost: options.env.DOCKER_HOST,
    runtimeDir: options.env.XDG_RUNTIME_DIR,
    programPath: options.env.PATH ?? '',
    home: options.env.HOME ?? homedir(),
    sources: Object.freeze(sources) as Record<SettingName, SettingSource>,
  })
}

/** Consequences of running in a pod: the mode, and that others must reach it (MODE-007). */
function settleDeployment({ mode, host }: Settings, sources: Record<string, SettingSource>, env: Environment) {
  const { KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT, POD_NAME, POD_UID } = env
  const podAddress = KUBERNETES_SERVICE_HOST
    ? { host: KUBERNETES_SERVICE_HOST, port: KUBERNETES_SERVICE_PORT || '443' }
    : undefined
  const settled = mode === 'auto' ? (podAddress ? 'kubernetes' : 'embedded') : mode
  const isExposed = podAddress !== undefined && settled === 'kubernetes' && sources.host === 'default'
  const ownPod = POD_NAME && POD_UID ? { name: POD_NAME, uid: POD_UID } : undefined
  return { mode: settled, podAddress, ownPod, host: isExposed ? '0.0.0.0' : host } as const
}

function pickValue(name: SettingName, options: LoadOptions, file: Record<string, unknown>): [unknown, SettingSource] {
  if (options.flags[name] !== undefined) return [options.flags[name], 'flag']
  const fromEnvironment = readVariables(name, options.env)
  if (fromEnvironment !== undefined) return [fromEnvironment, 'environment']
  if (file[name] !== undefined) return [file[name], 'file']
  return [undefined, 'default']
}

/** The value of a setting's variable, with those of single entries; an empty one counts as absent. */
function readVariables(name: SettingName, env: Environment): string | undefined {
  const variable = environmentNameOf(name)
  const entries = isKeyed(name)
    ? Object.entries(env).flatMap(([key, value]) => {
        return value && key.startsWith(`${variable}_`) ? [`${key.slice(variable.length + 1)}=${value}`] : []
      })
    : []
  return [...entries, env[variable]].filter(Boolean).join(',') || undefined
}

function isKeyed(name: SettingName): boolean {
  const { keyed }: Setting = settings[name]
  return keyed === true
}

/** Loaded only for a file: it would add a tenth to the time of every other command. */
function loadYaml(): typeof import('yaml') {
  return createRequire(import.meta.url)('yaml') as typeof import('yaml')
}

function readConfigFile(path: string): Record<string, unknown> {
  let parsed: unknown
  try {
    const text = readFileSync(path, 'utf8')
    parsed = loadYaml().parse(text)
  } catch (error) {
    throw new SvcError('InvalidRequest', `--config ${path}: ${describeFileError(error).trimEnd()}`)
  }
  if (parsed === null || parsed === undefined) return {}
  if (typeof parsed === 'object' && !Array.isArray(parsed)) return parsed as Record<string, unknown>
  throw new SvcError('InvalidRequest', `--config ${path}: must be a YAML mapping of setting names to values`)
}

function unknownNames(values: Record<string, unknown>, prefix: string): Problem[] {
  return Object.keys(values)
    .filter((name) => !(name in settings))
    .map((name) => ({ path: `${prefix}${name}`, message: 'is not a setting; `config print` lists them' }))
}

/** Variables that the command line itself reads besides the settings. */
const otherVariables = ['SVC_SERVER', 'SVC_TOKEN', 'SVC_CONTEXT', 'SVC_CONFIG', 'SVC_OIDC_CLIENT_ID', 'SVC_STARTED_BY']

/** `SVC_*` variables that are not settings, most likely misspelled. */
export function listUnknownVariables(env: Environment): string[] {
  const names = Object.keys(settings) as SettingName[]
  const known = new Set([...otherVariables, ...names.map(environmentNameOf)])
  const beginnings = names.filter(isKeyed).map((name) => `${environmentNameOf(name)}_`)
  const isKnown = (name: string) => known.has(name) || beginnings.some((beginning) => name.startsWith(beginning))
  return Object.keys(env).filter((name) => name.startsWith('SVC_') && !isKnown(name))
}

function describeOrigin(name: SettingName, source: SettingSource): string {
  if (source === 'flag') return `--${flagOf(name)}`
  if (source === 'environment') return environmentNameOf(name)
  return name
}

function describeProblems(problems: Problem[]): string {
  return `bad configuration: ${problems.map((p) => `${p.path} ${p.message}`).join(', ')}`
}

/** Of this service's own tokens, which people export under a vendor's name for programs that are to use the proxies. */
const ownToken = /^svc_/

function findVendorKeys(env: Environment): VendorKeys {
  return vendorKeyNames.flatMap((name) => {
    const value = env[name]
    return value && !ownToken.test(value) ? [{ name, value }] : []
  })
}
