// What is done with an agent: a task for it, or a chat with it.
import { useNavigate } from 'react-router'
import { sendChat } from '../../../../src/contract/api/chat/chat.ts'
import { createTask } from '../../../../src/contract/api/tasks/tasks.ts'
import { Button } from '../../parts/button.tsx'
import { Offered } from '../../session/offered.tsx'

type AgentActionsProps = { place: { namespace: string; name: string }; hasProgram: boolean }

/** `hasProgram`: tasks of it are of another type. */
export function AgentActions({ place: { namespace, name }, hasProgram }: AgentActionsProps) {
  const navigate = useNavigate()
  const scope = `ns=${encodeURIComponent(namespace)}`
  return (
    <>
      <Offered to={createTask}>
        <Button
          look="main"
          onClick={() => void navigate(`/tasks/new?${scope}`, { state: { agent: name, hasProgram } })}
        >
          Run
        </Button>
      </Offered>
      <Offered to={sendChat}>
        <Button onClick={() => void navigate(`/chat?${scope}`, { state: { agent: name } })}>Chat</Button>
      </Offered>
    </>
  )
}
