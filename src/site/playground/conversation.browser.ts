import type { Mode } from '../models/modes.ts'

/** An uploaded file of a message. */
export interface Attachment {
  id: string
  name: string
}

export interface Turn {
  role: 'user' | 'assistant'
  content: string
  files?: Attachment[]
  /** URLs of generated images, and of a video. They expire after a day. */
  images?: string[]
  video?: string
  /** The tokens and the cost of a reply, and the exact cost. */
  summary?: string
  exact?: string
}

/** One model with its conversation. Two of them stand side by side. */
export interface Pane {
  model: string
  turns: Turn[]
}

export interface Conversation {
  id: string
  /** Milliseconds since 1970. */
  at: number
  mode: Mode
  panes: Pane[]
}
