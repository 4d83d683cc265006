// The doors that act inside somebody's task or what it is made of, and who may pass each: routes, tools of chat and
// admission policies by name. `rules/tasks/acting.ts` decides a case; the tests of every door walk this table.

/**
 * How a caller who has the role stands to a task: `requester` asked for it, `reader` may read every Secret that it and its
 * agent name, `approver` is named by its agent, `other` is none of these; each where the task has a Secret.
 */
export const standings = ['requester', 'reader', 'approver', 'other'] as const
/** One of them. */
export type TaskStanding = (typeof standings)[number]

/** Doors of one sort: where they are, and who passes. */
export type ActingDoors = {
  description: string
  /** Names of routes of the public API. */
  routes: readonly string[]
  /** Tools of chat that pass the same use case. */
  chat: readonly string[]
  /** Admission policies, without prefix; empty: there is no such door through kubectl. */
  policies: readonly string[]
  /** Who passes. Where a task has no Secret whoever has the role does. */
  lets: readonly TaskStanding[]
}

const requesterOrReader = ['requester', 'reader'] as const satisfies readonly TaskStanding[]

export const actingDoors = {
  inside: {
    description: 'change, start, resume or schedule it, run its schedule, give it a file, open its pull request',
    routes: ['updateTask', 'runTask', 'putTaskInput', 'openTaskPullRequest'],
    chat: [],
    policies: ['task-acting', 'task-secrets'],
    lets: requesterOrReader,
  },
  question: {
    description: 'answer its question',
    routes: ['approve', 'decline'],
    chat: [],
    policies: [],
    lets: ['requester', 'reader', 'approver'],
  },
  workspace: {
    description: 'run a command in its execution workspace, end the workspace',
    routes: ['runInWorkspace', 'releaseWorkspace'],
    chat: [],
    policies: [],
    lets: requesterOrReader,
  },
  part: {
    description:
      'change its agent, or a skill, provider, tool or config map of it, refresh the skill, make another of that name',
    routes: [
      ...['createAgent', 'updateAgent', 'createSkill', 'updateSkill', 'refreshSkill', 'createProvider'],
      ...['updateProvider', 'createTool', 'updateTool', 'createConfigMap', 'updateConfigMap'],
    ],
    chat: ['create_agent', 'update_agent', 'create_tool'],
    policies: [
      ...['agent-acting', 'skill-acting', 'provider-acting', 'tool-acting', 'configmap-acting', 'used-elsewhere'],
    ],
    lets: requesterOrReader,
  },
  session: {
    description: 'make a task in its session, chat there',
    routes: ['createTask', 'sendChat'],
    chat: ['create_ai_task', 'create_agent_task', 'create_container_task'],
    policies: ['task-acting'],
    lets: requesterOrReader,
  },
  outside: {
    description: 'cancel or delete it, retry it as a task of one’s own, delete a part of it',
    routes: [
      ...['cancelTask', 'deleteTask', 'retryTask', 'deleteAgent', 'deleteSkill', 'deleteProvider', 'deleteTool'],
      ...['deleteConfigMap'],
    ],
    chat: ['cancel_task'],
    policies: [],
    lets: standings,
  },
} as const satisfies Record<string, ActingDoors>

/** A sort of doors by its name. */
export type ActingDoor = keyof typeof actingDoors

/** Whether a caller with the role passes the door of a task that has a Secret. */
export function letsIn(door: ActingDoor, standing: TaskStanding): boolean {
  return (actingDoors[door].lets as readonly TaskStanding[]).includes(standing)
}
