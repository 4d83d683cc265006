// All that the API has can be seen and done in the dashboard; what cannot is listed here with the reason.
import { expect, it } from 'vitest'
import { publicRoutes } from '../../src/contract/api/index.ts'
import { listFiles, readSource } from './source-tree.ts'

const program = 'for programs: a page has nothing to do with it'
const inList = 'a page has it in a list already'

const withoutPage: Record<string, string> = {
  getTaskPlan: 'the page of the task reads the versions of its plan',
  listTaskChildren: 'the page of the task reads the whole family',
  putTaskInput: 'files are handed in with the task, by the command line',
  getMemory: inList,
  getMemoryProposal: inList,
  getSkillContent: 'the page of the skill has the text',
  createSignInLink: '`svc open` makes it',
  getReviewSlice: inList,
  getFinding: inList,
  getScanImport: inList,
  runInWorkspace: 'for agents; people have the command line',
  receiveDelivery: program,
  getInternalOpenApi: program,
  getReadiness: program,
  getSchema: 'forms read all of them at once',
  getMetrics: program,
  getApproval: inList,
}

it('each route has a page, or a reason why it has none', () => {
  const text = listFiles('dashboard/src', ['.ts', '.tsx']).map(readSource).join('\n')
  const names = Object.entries(publicRoutes)
    .filter(([, { path }]) => !/^\/llm[ao]\//.test(path))
    .map(([name]) => name)
  const missing = names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text))
  expect(missing.filter((name) => withoutPage[name] === undefined)).toEqual([])
  // One that has a page by now, or is gone, has no reason any more.
  expect(Object.keys(withoutPage).filter((name) => !missing.includes(name))).toEqual([])
})
