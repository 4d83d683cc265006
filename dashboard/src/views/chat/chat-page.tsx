// Conversations: the list of them, and the one that the address names.
import { useState } from 'react'
import { getChatConfig, sendChat } from '../../../../src/contract/api/chat/chat.ts'
import { useRecord } from '../../data/records.ts'
import { Button } from '../../parts/button.tsx'
import { Page } from '../../parts/page.tsx'
import { useParameters } from '../../parts/scope.ts'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { Offered } from '../../session/offered.tsx'
import { ConversationList } from './conversation-list.tsx'
import { Talk } from './talk.tsx'
import type { SessionPlace } from './turns.ts'
import './chat.css'

/** `session=NAMESPACE/NAME` of the address. */
export function readPlace(text: string | null): SessionPlace | undefined {
  const [namespace = '', name = ''] = text?.split('/') ?? []
  return namespace === '' || name === '' ? undefined : { namespace, name }
}

export default function ChatPage() {
  const config = useRecord('Setting', getChatConfig)
  if (config.error !== null) {
    return (
      <Page title="Chat">
        <NoChat error={config.error} />
      </Page>
    )
  }
  return config.data === undefined ? (
    <Page title="Chat">
      <Loading what="the chat" />
    </Page>
  ) : (
    <Conversations />
  )
}

function Conversations() {
  const [parameters, change] = useParameters()
  const [isListOpen, setListOpen] = useState(false)
  const place = readPlace(parameters.get('session'))
  const key = place === undefined ? '' : `${place.namespace}/${place.name}`
  const actions = (
    <>
      <Button className="list-opener" aria-expanded={isListOpen} onClick={() => setListOpen(!isListOpen)}>
        Conversations
      </Button>
      <Offered to={sendChat}>
        <Button onClick={() => change({ session: undefined })}>New conversation</Button>
      </Offered>
    </>
  )
  return (
    <Page title="Chat" actions={actions}>
      <div className="chat">
        <aside className="conversations" aria-label="Conversations" data-open={isListOpen}>
          <ConversationList chosen={place} onChosen={() => setListOpen(false)} />
        </aside>
        <Talk key={key} place={place} onBegin={({ namespace, name }) => change({ session: `${namespace}/${name}` })} />
      </div>
    </Page>
  )
}

function NoChat({ error }: { error: Error }) {
  if (!/--chat-enabled/.test(error.message)) return <Failure error={error} />
  return (
    <Empty title="Chat is turned off on this service">
      <p>
        Whoever runs it turns it on by starting it with <code>--chat-enabled=true</code>, or without that flag and
        without <code>SVC_CHAT_ENABLED</code>.
      </p>
      <p>
        Tasks work all the same: <code>svc run "say hello"</code>.
      </p>
    </Empty>
  )
}
