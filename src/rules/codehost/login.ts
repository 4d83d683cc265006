// Which entries of a Secret sign in to the code host.
import { gitCredentialKeys, readGitCredentials } from '../workspaces/git-workspace.ts'

/** Structurally the credentials of the port. */
export type CodeHostEntries =
  | { kind: 'token'; token: string }
  | { kind: 'app'; appId: string; privateKey: string; installationId?: number }

const appIdKeys = ['CODEHOST_APP_ID', 'GITHUB_APP_ID'] as const
const appKeyKeys = ['CODEHOST_APP_PRIVATE_KEY', 'GITHUB_APP_PRIVATE_KEY'] as const
const installationKeys = ['CODEHOST_APP_INSTALLATION_ID', 'GITHUB_APP_INSTALLATION_ID'] as const

/** For messages. */
export const codeHostEntryNames = [...gitCredentialKeys, `${appIdKeys[0]} with ${appKeyKeys[0]}`].join(', ')

function find(entries: Readonly<Record<string, string>>, keys: readonly string[]): string | undefined {
  return keys.map((key) => entries[key]?.trim()).find((value) => value !== undefined && value !== '')
}

/** A GitHub App goes before a token. Undefined when there is neither. */
export function readCodeHostEntries(entries: Readonly<Record<string, string>>): CodeHostEntries | undefined {
  const appId = find(entries, appIdKeys)
  const privateKey = find(entries, appKeyKeys)
  if (appId !== undefined && privateKey !== undefined) {
    const installation = find(entries, installationKeys)
    const isNumber = installation !== undefined && /^\d{1,15}$/.test(installation)
    return { kind: 'app', appId, privateKey, ...(isNumber && { installationId: Number(installation) }) }
  }
  const token = readGitCredentials({ ...entries })?.password
  return token === undefined ? undefined : { kind: 'token', token }
}
