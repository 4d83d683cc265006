// Any agent that speaks the Agent Client Protocol, by its command. The protocol knows neither a model nor limits: the
// service counts turns, and the rules of the task answer what the agent asks for; what it does without asking is its
// own choice, within the sandbox of the attempt.
import { type AgentRuntime, withoutServerTools } from '../runtime.ts'
import { createAcpReader, sayHello } from './client.ts'

/** `command`: the program and its arguments. The door to the models comes in the variables that most programs know. */
export function acpRuntime([command = '', ...args]: string[]): AgentRuntime {
  return {
    command,
    install: `see the documentation of ${command}`,
    prepare(job) {
      const { model, proxy } = job
      return {
        args,
        env: {
          SVC_AGENT_MODEL: model,
          OPENAI_BASE_URL: `${proxy.url}/llmo/v1`,
          OPENAI_API_KEY: proxy.token,
          ANTHROPIC_BASE_URL: `${proxy.url}/llma`,
          ANTHROPIC_AUTH_TOKEN: proxy.token,
          ANTHROPIC_CUSTOM_HEADERS: `${withoutServerTools.name}: ${withoutServerTools.value}`,
        },
        files: {},
        input: sayHello(),
        staysOpen: true,
        reader: createAcpReader(job),
      }
    },
  }
}
