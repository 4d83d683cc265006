// Every setting with its value and where that came from; secrets are hidden.
import type { Config } from './load.ts'
import { describeSettings, type Setting, type SettingDoc, type SettingName, settings } from './settings.ts'

export type SettingState = SettingDoc & { value: string; source: Config['sources'][SettingName]; isSecret: boolean }

/** As it would be typed, as far as it can be. */
function formatValue(value: unknown): string {
  if (Array.isArray(value)) return value.map(formatValue).join(',')
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '')
}

function describeState(config: Config, doc: SettingDoc): SettingState {
  const name = doc.name as SettingName
  const { secret: isSecret = false }: Setting = settings[name]
  // Folders that replace an absent setting.
  const value = formatValue(config[name] ?? (config.paths as unknown as Record<string, unknown>)[name])
  return { ...doc, value: isSecret && value !== '' ? '(hidden)' : value, source: config.sources[name], isSecret }
}

/** In the order of help and reference. */
export function describeStates(config: Config): SettingState[] {
  return describeSettings().map((doc) => describeState(config, doc))
}
