// The files with which a worker in a pod of its own receives its work and reports its end.

/** Files in the pods and containers of tasks; the service mounts them and the programs there read them. */
export const mountedFiles = {
  /** The WorkAssignment as gzipped JSON, because a Secret holds 1 MiB at most. Its `api.token` is empty. */
  assignment: { folder: '/run/svc/assignment', name: 'assignment.json.gz' },
  /** Certificates (PEM) of additional authorities that the worker trusts; absent when there are none. */
  authorities: { folder: '/run/svc/assignment', name: 'authorities.pem' },
  /** The attempt's token, which is renewed while the pod runs and therefore read before each call. */
  token: { folder: '/run/svc/token', name: 'token' },
  /** The task's own context token, for commands. */
  transaction: { folder: '/run/svc/transaction', name: 'token' },
  /** Where a worker and the container of its agent program meet; both see the folder, and the program's home is in it. */
  programs: { folder: '/run/svc/agent', name: 'programs.sock' },
  /** Where the worker writes its outcome: one line of JSON, at most 4096 bytes (terminationMessagePath of core/v1). */
  outcome: '/dev/termination-log',
} as const

/** Where the code of a task finds the Secrets that its task and agent name with `secretRef`, one file per entry. */
export const secretFolders = { task: '/secrets/task', agent: '/secrets/agent' } as const
