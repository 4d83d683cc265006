// The parameters that models are given, against the tables of the specification.
import { describe, expect, it } from 'vitest'
import { codeHostTools } from '../codehost/code-host-tools.ts'
import { builtinTools } from './registry.ts'
import type { ModelTool } from './tool.ts'

type Parameters = { required: string[]; optional?: string[]; defaults?: Record<string, unknown> }

/** Required are those before "(required)" in a row; of code_exec language and code, of file_read the path. */
const builtIn: Record<string, Parameters> = {
  web_search: { required: ['query'], optional: ['limit'], defaults: { limit: 5 } },
  code_exec: { required: ['language', 'code'], optional: ['timeout'] },
  file_read: { required: ['path'], optional: ['offset', 'limit'] },
  web_fetch: { required: ['url'], optional: ['max_chars', 'raw'], defaults: { max_chars: 50_000 } },
  file_write: { required: ['path', 'content'], optional: ['mode', 'create_dirs'] },
}

const pages = ['per_page', 'page']
const merge = ['merge_method', 'commit_title', 'commit_message']
const scope = ['task_name', 'repo_url']
const codeHost: Record<string, Parameters> = {
  // Its task_name is required by the specification; by a later decision it may be left out as in its siblings.
  create_pull_request: { required: ['head_branch', 'base_branch', 'title'], optional: ['task_name', 'body'] },
  check_pull_request_ci: { required: ['pr_number'], optional: [...scope, 'wait_timeout', 'poll_interval'] },
  list_pull_requests: { required: [], optional: [...scope, ...pages] },
  check_pr_review_marker: { required: ['pr_number'], optional: [...scope, 'head_sha'] },
  merge_pull_request: { required: ['task_name', 'pr_number'], optional: merge },
  auto_merge_pull_request: { required: ['task_name', 'pr_number'], optional: [...merge, 'timeout'] },
  review_pull_request: { required: ['pr_number'], optional: scope },
  post_review_comment: { required: ['pr_number', 'body', 'event'], optional: [...scope, 'comments'] },
  list_issues: { required: [], optional: [...scope, 'unassigned_only', ...pages], defaults: { unassigned_only: true } },
  get_issue: { required: ['issue_number'], optional: scope },
  comment_on_issue: { required: ['issue_number', 'body'], optional: scope },
}

type Schema = { required?: string[]; properties?: Record<string, { default?: unknown }> }

/** In the order of names: models do not go by the order. */
function read(schema: Schema): Parameters {
  const { required = [], properties = {} } = schema
  const defaults = Object.entries(properties).filter(([, { default: value }]) => value !== undefined)
  return {
    required: required.toSorted(),
    optional: Object.keys(properties)
      .filter((name) => !required.includes(name))
      .toSorted(),
    defaults: Object.fromEntries(defaults.map(([name, { default: value }]) => [name, value])),
  }
}

type Tool = Pick<ModelTool<never>, 'name' | 'parameters' | 'invoke'>

function expectParameters(tools: readonly Tool[], expected: Record<string, Parameters>): void {
  expect(tools.map(({ name }) => name).toSorted()).toEqual(Object.keys(expected).toSorted())
  for (const { name, parameters } of tools) {
    const { required = [], optional = [], defaults = {} } = expected[name] ?? {}
    const found = read(parameters)
    expect([name, found.required]).toEqual([name, required.toSorted()])
    expect([name, found.optional]).toEqual([name, optional.toSorted()])
    expect(found.defaults, name).toMatchObject(defaults)
  }
}

describe('the parameters of the specification', () => {
  it('are those of the built-in tools [BUILT-002, BUILT-003, BUILT-009, BUILT-010, BUILT-011, BUILT-012]', () => {
    expectParameters(builtinTools, builtIn)
  })

  it('are those of the tools of the code host [CODEHOST-001, CODEHOST-002, CODEHOST-003, CODEHOST-004, CODEHOST-005, CODEHOST-006, CODEHOST-007, CODEHOST-008, CODEHOST-010, CODEHOST-011, CODEHOST-012, CODEHOST-013]', () => {
    expectParameters(codeHostTools, codeHost)
  })

  it('are asked for by name when one that is required is missing, before anything runs', async () => {
    for (const { name, invoke } of [...builtinTools, ...codeHostTools] as readonly Tool[]) {
      const { required = [] } = { ...builtIn, ...codeHost }[name] ?? {}
      if (required.length === 0) continue
      const outcome = await invoke({}, undefined as never, new AbortController().signal)
      expect(outcome, name).toMatchObject({ success: false, errorType: 'invalid_arguments' })
      for (const missing of required) expect(JSON.stringify(outcome)).toContain(missing)
    }
  })
})
