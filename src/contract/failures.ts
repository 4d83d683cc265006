// The closed table of failures: every reason a model call, an attempt or a task can fail for, and what follows from it.
import type { ErrorReason } from '../errors.ts'

/**
 * What becomes of the work. `final`: another attempt would meet it again, or must not be made. `retried`: the task's retry
 * policy decides. `free`: lost through no fault of its own; another attempt follows at once and costs no retry (TASK-043).
 */
export type FailureClass = 'final' | 'retried' | 'free'

/** For how long nothing is sent, in milliseconds, when the vendor names no time of its own. */
export type Rest = {
  /** What rests: the one model, where vendors limit each by itself, or all that the provider serves. */
  of: 'model' | 'provider'
  ms: number
}

/** What follows from one sort of failure. */
export type FailureRule = {
  class: FailureClass
  /** Only of model calls: nobody waits at an open request for anything else. */
  call?: {
    /** What a caller is answered who waits for the call; its HTTP status is in the table of errors. */
    error: ErrorReason
    /** Whether the same provider is worth asking again in a moment. */
    again: boolean
    /** Whether another provider may take over, as long as nothing of an answer was given. */
    takeOver: boolean
    /** At fault: a `request` that the vendor judged shows that the provider answers. */
    blames: 'provider' | 'request' | 'nobody'
    rest?: Rest
    /** A vendor may well have begun to work: what was sent and streamed counts, although nobody has counted it. */
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
  /** It is the provider's credential, not the caller's. */
  CredentialRefused: { class: 'final', call: { ...lasting, error: 'UpstreamFailed' } },
  /** The account behind the key has to be paid first. */
  CreditUsedUp: { class: 'final', call: { ...lasting, error: 'UpstreamFailed', rest: { of: 'provider', ms: minute } } },
  /** Too much was asked: vendors count each model by itself. */
  RateLimited: { class: 'retried', call: { ...passing, error: 'TooManyRequests', rest: { of: 'model', ms: 10_000 } } },
  /** The vendor's machines have too much to do. */
  ProviderOverloaded: {
    class: 'retried',
    call: { ...passing, error: 'Overloaded', rest: { of: 'provider', ms: 10_000 } },
  },
  /** No connection, or none in time. */
  ProviderUnreachable: { class: 'retried', call: { ...passing, error: 'UpstreamFailed' } },
  /** The answer ended too early, or the vendor fell silent. */
  AnswerBrokenOff: { class: 'retried', call: { ...passing, error: 'UpstreamFailed', begun: true } },
  /** The vendor says that it failed, or said what nobody can read. */
  ProviderFailed: { class: 'retried', call: { ...passing, error: 'UpstreamFailed' } },
  /** There is no such API at the provider's address, or it points elsewhere. */
  WrongAddress: { class: 'final', call: { ...lasting, error: 'UpstreamFailed' } },
  /** The provider's address may not be dialled (NET-002, SECRET-006). */
  AddressRefused: { class: 'final', call: { ...lasting, error: 'UpstreamFailed' } },
  /** The vendor does not know the model, or the key may not use it. */
  ModelNotFound: { class: 'final', call: { ...wrong, takeOver: true, error: 'NotFound' } },
  /** The vendor found fault with the request. */
  RequestRefused: { class: 'final', call: { ...wrong, error: 'InvalidRequest' } },
  RequestTooLarge: { class: 'final', call: { ...wrong, error: 'TooLarge' } },
  /** The vendors answer 400: the conversation has to be cut. */
  ContextTooLong: { class: 'final', call: { ...wrong, error: 'InvalidRequest' } },
  /** Neither the request nor the provider names a model. */
  MissingModel: { class: 'final', call: { ...unsent, error: 'InvalidRequest' } },
  /** A budget of its caller, agent or namespace is used up. */
  BudgetExceeded: { class: 'final', call: { ...unsent, takeOver: false, error: 'BudgetExceeded' } },
  /** It holds what this provider's language has no words for. */
  RequestUnsupported: { class: 'final', call: { ...unsent, error: 'InvalidRequest' } },
  /** The service itself could not do its part: its store or its worker API did not answer. */
  ServiceUnavailable: { class: 'retried', call: { ...unsent, again: true, error: 'Unavailable' } },
  /** A fault of the program. */
  Internal: { class: 'retried', call: { ...unsent, again: true, error: 'Internal' } },
  /** Ended from outside: its caller left, the service stopped, its node was lost. */
  Stopped: { class: 'free', call: { ...unsent, takeOver: false, error: 'ClientClosed', begun: true } },
} as const satisfies Record<string, CallRule>

/** What else the worker says of a run that failed. */
const runs = {
  /** Service and worker are of different versions. */
  InvalidAssignment: { class: 'final' },
  UnsupportedTask: { class: 'final' },
  /** The model declined to go on. */
  ModelRefused: { class: 'retried' },
  /** The model reached its output limit before there was an answer. */
  OutputLimit: { class: 'retried' },
  EmptyAnswer: { class: 'retried' },
  /** The service takes nothing more of this attempt. */
  Superseded: { class: 'retried' },
  /** The attempt's time is used up. */
  DeadlineExceeded: { class: 'final' },
} as const satisfies Record<string, FailureRule>

/** What the place says where an attempt runs. */
const places = {
  ExitCode: { class: 'retried' },
  Signal: { class: 'retried' },
  OutOfMemory: { class: 'retried' },
  /** It wrote more than its disk holds, or what it wrote could not be kept. */
  DiskFull: { class: 'retried' },
  StartFailed: { class: 'retried' },
  ImageUnavailable: { class: 'retried' },
  NoSandbox: { class: 'final' },
  NoEngine: { class: 'final' },
} as const satisfies Record<string, FailureRule>

/** What the controller finds. */
const tasks = {
  /** The attempt ended well and left no result. */
  NoResult: { class: 'retried' },
  /** The task's own `timeout` is over. */
  TimedOut: { class: 'final' },
  /** Lost more often than it is repeated for nothing. */
  Interrupted: { class: 'final' },
  /** Something named did not come. */
  MissingReference: { class: 'final' },
  /** It cannot be carried out as it is written. */
  Validation: { class: 'final' },
} as const satisfies Record<string, FailureRule>

const table = { ...calls, ...runs, ...places, ...tasks }

/** Stable words of the API: a new one has its row above, or it does not compile. */
export type FailureReason = keyof typeof table

/** Why a model call failed. */
export type CallFailure = keyof typeof calls

/** All of them. */
export const callFailures = Object.keys(calls) as [CallFailure, ...CallFailure[]]

/** What a worker may say of its run. */
export type RunFailure = CallFailure | keyof typeof runs

/** What the place may say where an attempt ran. */
export type PlaceFailure = keyof typeof places | 'DeadlineExceeded' | 'Stopped'

export const failures: Readonly<Record<FailureReason, FailureRule>> & Readonly<Record<CallFailure, CallRule>> = table

/** What follows from the failure of a model call. */
export function ruleOfCall(reason: CallFailure): CallRule['call'] {
  return failures[reason].call
}

/** A word from outside, such as a worker's, when it is one that a run may end with. */
export function readRunFailure(word: string | undefined): RunFailure | undefined {
  return word !== undefined && (Object.hasOwn(calls, word) || Object.hasOwn(runs, word))
    ? (word as RunFailure)
    : undefined
}
