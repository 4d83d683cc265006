// Where the worker program finds its work when it runs in a pod of its own, and where it says how it ended.

/** Files of the pods and containers of tasks: mounted by the service, read by what runs there. */
export const mountedFiles = {
  /** The WorkAssignment as JSON, gzipped: a Secret holds 1 MiB at most. Its `api.token` is empty there. */
  assignment: { folder: '/run/svc/assignment', name: 'assignment.json.gz' },
  /** Certificates (PEM) of authorities that the worker trusts beside the public ones; only where there are any. */
  authorities: { folder: '/run/svc/assignment', name: 'authorities.pem' },
  /** The attempt's token, renewed while the pod runs: read before each call. */
  token: { folder: '/run/svc/token', name: 'token' },
  /** The task's own context token, for commands (reference 3.7). */
  transaction: { folder: '/run/svc/transaction', name: 'token' },
  /** Takes the outcome as one line of JSON, at most 4096 bytes (terminationMessagePath of core/v1). */
  outcome: '/dev/termination-log',
} as const

/** Where the code of a task finds the Secrets that its task and its agent name with `secretRef`, one file per entry. */
export const secretFolders = { task: '/secrets/task', agent: '/secrets/agent' } as const
