import { describe, expect, it } from 'vitest'
import { gitWorkspaceOf, readGitCredentials, repositoryUrl } from './git-workspace.ts'

const at = (gitRepo: string) => repositoryUrl({ workspace: { gitRepo } })?.href

describe('the repository of a task', () => {
  it('stands beside the task or in the settings of its agent', () => {
    expect(gitWorkspaceOf({ workspace: { gitRepo: 'https://a.example/b' } })?.gitRepo).toBe('https://a.example/b')
    const inAgent = { agentRuntime: { workspace: { gitRepo: 'https://a.example/c' } } }
    expect(gitWorkspaceOf(inAgent)?.gitRepo).toBe('https://a.example/c')
    expect(gitWorkspaceOf({ workspace: { branch: 'main' } })).toBeUndefined()
  })

  it('gets its credentials where it is dialled', () => {
    expect(at('git@a.example:owner/b.git')).toBe('https://a.example/owner/b.git')
    expect(repositoryUrl({})).toBeUndefined()
  })
})

it('reads a password in any of its spellings, and no empty one', () => {
  expect(readGitCredentials({ token: 'a\n', username: 'bot' })).toEqual({ username: 'bot', password: 'a' })
  expect(readGitCredentials({ GITHUB_TOKEN: 'b', token: '' })).toEqual({ password: 'b' })
  expect(readGitCredentials({ key: 'c' })).toBeUndefined()
})
