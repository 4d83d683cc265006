// Messages between sibling tasks under one coordinator. They belong to tasks by uid; names are for whoever reads them.

/** A task; its name may be another's later. */
export type Correspondent = { uid: string; name: string }

export type Message = {
  /** Rising integer. */
  id: number
  namespace: string
  fromTask: string
  /** A task name, or `*` for all siblings. */
  toTask: string
  parentTask: string
  content: string
  /** By the reader that asked, before it asked or by asking. */
  read: boolean
  createdAt: string
}

export type MessageDraft = {
  namespace: string
  from: Correspondent
  to: Correspondent | '*'
  parent: Correspondent
  content: string
}

export interface Messages {
  send(message: MessageDraft): Promise<Message>
  /**
   * Unread ones for the reader under the parent, oldest first; never its own, and never those of another task that had one
   * of the names. Marks per reader (MSG-010) when `markRead`. Messages from before they had uids go by the names.
   */
  unread(query: {
    namespace: string
    reader: Correspondent
    parent: Correspondent
    markRead: boolean
  }): Promise<Message[]>
  /** Removes what the task sent, received, or was the parent of, with its marks. */
  removeTask(taskUid: string): Promise<void>
  /** Removes those from before; how many. */
  sweep(before: Date): Promise<number>
}
