// Messages between sibling tasks under one coordinator.

export type Message = {
  /** Rising integer. */
  id: number
  namespace: string
  fromTask: string
  /** A task name, or `*` for all siblings. */
  toTask: string
  parentTask: string
  content: string
  /** By the reader that asked. */
  read: boolean
  createdAt: string
}

export interface Messages {
  send(message: Pick<Message, 'namespace' | 'fromTask' | 'toTask' | 'parentTask' | 'content'>): Promise<Message>
  /** Unread ones for the reader under the parent, oldest first; never its own. Marks per reader (MSG-010) when `markRead`. */
  unread(query: { namespace: string; reader: string; parentTask: string; markRead: boolean }): Promise<Message[]>
  /** Removes what the task sent, received, or was the parent of. */
  removeTask(namespace: string, taskName: string): Promise<void>
}
