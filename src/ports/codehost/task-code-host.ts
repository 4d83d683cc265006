// The code host as a running task sees it: tools, whose login stays in the service.
import type { CodeHostAnswer, CodeHostCall } from '../../contract/api/codehost/code-host-tools.ts'

export interface TaskCodeHost {
  /** What was refused, by the service or by the code host, is part of the answer. */
  call(call: CodeHostCall): Promise<CodeHostAnswer>
}
