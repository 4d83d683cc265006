// The closed table of failures: every reason why a model call, an attempt or a task can fail, and the consequences.
import type { ErrorReason } from '../../../errors.ts'

/**
 * What happens next. `final`: no other attempt, because it would fail again or is not allowed. `retried`: the task's retry
 * policy decides. `free`: the attempt was lost through no fault of its own; another one follows at once and costs no retry
 * (TASK-043).
 */
export type FailureClass = 'final' | 'retried' | 'free'

/** How long nothing is sent, in milliseconds, when the vendor names no time. */
export type Rest = {
  /** What cools down: a single model, where vendors limit each one separately, or the whole provider. */
  of: 'model' | 'provider'
  ms: number
}

/** The consequences of one sort of failure. */
export type FailureRule = {
  class: FailureClass
  /** For model calls only, since only they have a caller who waits for an answer. */
  call?: {
    /** The error for a caller who waits for the call; the table of errors has its HTTP status. */
    error: ErrorReason
    /** Whether to try the same provider again shortly. */
    again: boolean
    /** Whether another provider may take over, as long as no part of an answer was passed on. */
    takeOver: boolean
    /** Who is at fault; `request` shows that the provider itself works. */
    blames: 'provider' | 'request' | 'nobody'
    rest?: Rest
    /** The vendor may have started to work, so what was sent and received is estimated and counted. */
    begun?: true
  }
}

type CallRule = FailureRule & Required<Pick<FailureRule, 'call'>>

const minute = 60_000

const passing = { again: true, takeOver: true, blames: 'provider' } as const
const lasting = { again: false, takeOver: true, blames: 'provider' } as const
const wrong = { again: false, takeOver: false, blames: 'request' } as const
const unsent = { again: false, takeOver: true, blames: 'nobody' } as const

/** Why a model call failed; the worker ends its run with the same word. */
const calls = {
  /** The vendor wants a key and the provider has none. */
  MissingApiKey: { class: 'final', call: { ...lasting, error: 'UpstreamFailed' } },
  /** The provider's credential was refused, not the caller's. */
  CredentialRefused: { class: 'final', call: { ...lasting, error: 'UpstreamFailed' } },
  /** The account of the key has to be paid. */
  CreditUsedUp: { class: 'final', call: { ...lasting, error: 'UpstreamFailed', rest: { of: 'provider', ms: minute } } },
  /** A rate limit, which vendors apply to each model separately. */
  RateLimited: { class: 'retried', call: { ...passing, error: 'TooManyRequests', rest: { of: 'model', ms: 10_000 } } },
  /** The vendor is overloaded. */
  ProviderOverloaded: {
    class: 'retried',
    call: { ...passing, error: 'Overloaded', rest: { of: 'provider', ms: 10_000 } },
  },
  /** No connection within the time limit. */
  ProviderUnreachable: { class: 'retried', call: { ...passing, error: 'UpstreamFailed' } },
  /** The answer was cut off, or the vendor stopped sending. */
  AnswerBrokenOff: { class: 'retried', call: { ...passing, error: 'UpstreamFailed', begun: true } },
  /** The answer was larger than any may be: asked again, also of another provider, it would be paid again. */
  AnswerTooLong: { class: 'final', call: { ...wrong, error: 'UpstreamFailed', begun: true } },
  /** The vendor reported a failure or sent something unreadable. */
  ProviderFailed: { class: 'retried', call: { ...passing, error: 'UpstreamFailed' } },
  /** The provider's address has no such API, or redirects elsewhere. */
  WrongAddress: { class: 'final', call: { ...lasting, error: 'UpstreamFailed' } },
  /** The provider's address may not be dialled (NET-002, SECRET-006). */
  AddressRefused: { class: 'final', call: { ...lasting, error: 'UpstreamFailed' } },
  /** The vendor does not know the model, or the key may not use it. */
  ModelNotFound: { class: 'final', call: { ...wrong, takeOver: true, error: 'NotFound' } },
  /** The vendor rejected the request. */
  RequestRefused: { class: 'final', call: { ...wrong, error: 'InvalidRequest' } },
  RequestTooLarge: { class: 'final', call: { ...wrong, error: 'TooLarge' } },
  /** The conversation is too long; vendors answer 400. */
  ContextTooLong: { class: 'final', call: { ...wrong, error: 'InvalidRequest' } },
  /** Neither the request nor the provider names a model. */
  MissingModel: { class: 'final', call: { ...unsent, error: 'InvalidRequest' } },
  /** A budget of its caller, agent or namespace is used up. */
  BudgetExceeded: { class: 'final', call: { ...unsent, takeOver: false, error: 'BudgetExceeded' } },
  /** The request contains something that the provider's API cannot express. */
  RequestUnsupported: { class: 'final', call: { ...unsent, error: 'InvalidRequest' } },
  /** A part of the service did not answer for minutes, its store or its worker API: no fault of the attempt. */
  ServiceUnavailable: { class: 'free', call: { ...unsent, again: true, error: 'Unavailable' } },
  /** A fault of the program. */
  Internal: { class: 'retried', call: { ...unsent, again: true, error: 'Internal' } },
  /** Ended from outside: the caller disconnected, the service stopped or the node was lost. */
  Stopped: { class: 'free', call: { ...unsent, takeOver: false, error: 'ClientClosed', begun: true } },
} as const satisfies Record<string, CallRule>

/** Other reasons that a worker reports. */
const runs = {
  /** Service and worker are of different versions. */
  InvalidAssignment: { class: 'final' },
  UnsupportedTask: { class: 'final' },
  /** The model refused to continue. */
  ModelRefused: { class: 'retried' },
  /** The model reached its output limit without an answer. */
  OutputLimit: { class: 'retried' },
  EmptyAnswer: { class: 'retried' },
  /** The program of the agent is not installed. */
  ProgramMissing: { class: 'final' },
  /** The program of the agent failed, or left no result. */
  AgentFailed: { class: 'retried' },
  /** The program of the agent was killed by the system, or said that it had no memory left. */
  AgentKilled: { class: 'retried' },
  /** The agent used all its turns. */
  TurnLimit: { class: 'final' },
  /** The answer does not match the task's schema, after the corrections too. */
  InvalidOutput: { class: 'retried' },
  /** The answer could not be compared with the task's schema: no other answer would mend that. */
  UncheckedOutput: { class: 'final' },
  /** The service no longer accepts anything from this attempt. */
  Superseded: { class: 'retried' },
  /** The run waits for something, which is stored: another attempt goes on from there. */
  Parked: { class: 'retried' },
  /** The attempt's time is used up. */
  DeadlineExceeded: { class: 'final' },
} as const satisfies Record<string, FailureRule>

/** Reasons that the adapter which runs an attempt reports. */
const adapters = {
  ExitCode: { class: 'retried' },
  Signal: { class: 'retried' },
  OutOfMemory: { class: 'retried' },
  /** It wrote more than its disk holds, or its output could not be stored. */
  DiskFull: { class: 'retried' },
  StartFailed: { class: 'retried' },
  ImageUnavailable: { class: 'retried' },
  /** The git repository could not be checked out, or what was changed in it could not be read. */
  CheckoutFailed: { class: 'retried' },
  NoSandbox: { class: 'final' },
  NoEngine: { class: 'final' },
} as const satisfies Record<string, FailureRule>

/** Reasons that the controller finds. */
const tasks = {
  /** The attempt succeeded but left no result. */
  NoResult: { class: 'retried' },
  /** The task's own `timeout` has passed. */
  TimedOut: { class: 'final' },
  /** Lost more often than attempts are repeated for free. */
  Interrupted: { class: 'final' },
  /** Something that the task names did not appear in time. */
  MissingReference: { class: 'final' },
  /** The task cannot run as it is written. */
  Validation: { class: 'final' },
} as const satisfies Record<string, FailureRule>

const table = { ...calls, ...runs, ...adapters, ...tasks }

/** Stable words of the API; each must have a row above, or the code does not compile. */
export type FailureReason = keyof typeof table

/** Why a model call failed. */
export type CallFailure = keyof typeof calls

/** Every reason. */
export const callFailures = Object.keys(calls) as [CallFailure, ...CallFailure[]]

/** Reasons that a worker may report. */
export type RunFailure = CallFailure | keyof typeof runs

/** Reasons that an adapter may report. */
export type AdapterFailure = keyof typeof adapters | 'DeadlineExceeded' | 'Stopped'

export const failures: Readonly<Record<FailureReason, FailureRule>> & Readonly<Record<CallFailure, CallRule>> = table

/**
 * An attempt ended with the process that it shared, or to leave that. What a `suspect` did may be why: it goes on in a process of
 * its own. Neither counts against the task.
 */
export type SharedLoss = 'suspect' | 'bystander'

/** The consequences of a failed model call. */
export function ruleOfCall(reason: CallFailure): CallRule['call'] {
  return failures[reason].call
}

/** Checks a word from outside, such as a worker's; undefined when no run can end with it. */
export function readRunFailure(word: string | undefined): RunFailure | undefined {
  return word !== undefined && (Object.hasOwn(calls, word) || Object.hasOwn(runs, word))
    ? (word as RunFailure)
    : undefined
}
