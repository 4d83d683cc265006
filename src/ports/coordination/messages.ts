// Messages between sibling tasks under one coordinator. They belong to tasks by uid; names are for the reader.

/** A task; another task can have its name later. */
export type Correspondent = { uid: string; name: string }

export type Message = {
  /** An increasing integer. */
  id: number
  namespace: string
  fromTask: string
  /** A task name, or `*` for all siblings. */
  toTask: string
  parentTask: string
  content: string
  /** Whether the asking reader has read it, before or with this call. */
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

/** The most messages that one task may send: those who talk without end fill no store. */
export const messagesOfTask = 1000

/** How many unread messages are answered at once. */
export const messagesAtOnce = 100

export interface Messages {
  send(message: MessageDraft): Promise<Message>
  /** How many messages the task has sent that are still kept. */
  countSent(taskUid: string): Promise<number>
  /**
   * Unread messages for the reader under the parent, oldest first, `messagesAtOnce` at most; never the reader's own, and never those for another
   * task of the same name. With `markRead`, marks them for this reader (MSG-010). Older messages without uids are
   * matched by name.
   */
  unread(query: {
    namespace: string
    reader: Correspondent
    parent: Correspondent
    markRead: boolean
    /** Only messages up to this id. */
    upTo?: number | undefined
  }): Promise<Message[]>
  /** What was sent below the coordinator, newest first; `before`: only with a smaller id. */
  sentBelow(parentUid: string, page: { limit: number; before?: number | undefined }): Promise<Omit<Message, 'read'>[]>
  /** Removes what the task sent, received, or was the parent of, with the read marks. */
  removeTask(taskUid: string): Promise<void>
  /** Removes those sent before the time; returns how many. */
  sweep(before: Date): Promise<number>
}
