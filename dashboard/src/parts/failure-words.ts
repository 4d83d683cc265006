// Why tasks fail, in words of people instead of programs.
import type { FailureReason } from '../../../src/contract/kinds/tasks/failures.ts'
import { visible } from './visible-text.ts'

const words: Record<FailureReason, string> = {
  MissingApiKey: 'The provider has no API key',
  CredentialRefused: 'The vendor refused the API key',
  CreditUsedUp: 'The account at the vendor has no credit left',
  RateLimited: 'The vendor limits how often the model is called',
  ProviderOverloaded: 'The vendor is overloaded',
  ProviderUnreachable: 'The provider could not be reached',
  AnswerBrokenOff: 'The answer of the model broke off',
  AnswerTooLong: 'The answer of the model was too long',
  ProviderFailed: 'The provider failed',
  WrongAddress: 'The address of the provider is wrong',
  AddressRefused: 'The address of the provider may not be dialled',
  ModelNotFound: 'The vendor does not know the model',
  RequestRefused: 'The vendor refused the request',
  RequestTooLarge: 'The request was too large for the vendor',
  ContextTooLong: 'The conversation was too long for the model',
  MissingModel: 'No model is named',
  BudgetExceeded: 'A budget is used up',
  RequestUnsupported: 'The provider cannot do what was requested',
  ServiceUnavailable: 'A part of the service did not answer',
  Internal: 'A fault of the service',
  Stopped: 'It was ended from outside',
  InvalidAssignment: 'Service and worker are of different versions',
  UnsupportedTask: 'The worker cannot run this sort of task',
  ModelRefused: 'The model refused to go on',
  OutputLimit: 'The model reached its output limit',
  EmptyAnswer: 'The model answered nothing',
  ProgramMissing: 'The agent program is not installed',
  AgentFailed: 'The agent program failed',
  AgentKilled: 'The agent program was killed, perhaps for lack of memory',
  TurnLimit: 'The agent used all its turns',
  InvalidOutput: 'The answer does not match the schema',
  UncheckedOutput: 'The answer could not be checked against the schema',
  Superseded: 'Another attempt took over',
  Parked: 'It waits for something',
  DeadlineExceeded: 'It took longer than its time limit',
  ExitCode: 'The command failed',
  Signal: 'The command was ended by a signal',
  OutOfMemory: 'It ran out of memory',
  DiskFull: 'The disk is full',
  StartFailed: 'It could not be started',
  ImageUnavailable: 'The container image is not available',
  CheckoutFailed: 'The repository could not be checked out',
  NoSandbox: 'There is no sandbox to run it in',
  NoEngine: 'There is no container engine to run it in',
  NoResult: 'It left no result',
  TimedOut: 'It took longer than its time limit',
  Interrupted: 'It was interrupted too often',
  MissingReference: 'Something that it names is missing',
  Validation: 'It cannot run as it is written',
}

/** The reason in words; one that is not known stays as it is. */
export function describeFailure(reason: string | undefined): string {
  if (reason === undefined || reason === '') return 'It failed'
  return Object.hasOwn(words, reason) ? words[reason as FailureReason] : visible(reason)
}
