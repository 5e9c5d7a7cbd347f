import { modes } from '../models/modes.ts'
import type { Conversation } from './conversation.browser.ts'

const conversationsMax = 50
/** Browsers store five million characters for a site. */
const charsMax = 3_000_000

/** The conversations of one person in this browser, newest first. */
export class ConversationHistory {
  readonly #name: string

  constructor(owner: string) {
    this.#name = `playground ${owner}`
  }

  list(): Conversation[] {
    try {
      const stored: unknown = JSON.parse(localStorage.getItem(this.#name) ?? '[]')
      return Array.isArray(stored) ? stored.filter(isConversation) : []
    } catch {
      return []
    }
  }

  /** Stores a conversation as the newest one. The oldest ones leave when there are too many. */
  save(conversation: Conversation): void {
    this.#write([conversation, ...this.list().filter(({ id }) => id !== conversation.id)])
  }

  remove(id: string): void {
    this.#write(this.list().filter((one) => one.id !== id))
  }

  clear(): void {
    this.#write([])
  }

  #write(all: Conversation[]): void {
    for (let kept = all.slice(0, conversationsMax); ; kept = kept.slice(0, -1)) {
      const text = JSON.stringify(kept)
      if (text.length > charsMax && kept.length > 0) continue
      try {
        localStorage.setItem(this.#name, text)
        return
      } catch {
        // Storage is full or off: without it, the conversation ends with the page.
        if (kept.length === 0) return
      }
    }
  }
}

function isConversation(value: unknown): value is Conversation {
  if (typeof value !== 'object' || value === null) return false
  const { id, at, mode, panes }: Partial<Conversation> = value
  const isMode = modes.some((known) => known === mode)
  return (
    typeof id === 'string' &&
    typeof at === 'number' &&
    isMode &&
    Array.isArray(panes) &&
    panes.every(isPane)
  )
}

const isPane = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  'model' in value &&
  typeof value.model === 'string' &&
  'turns' in value &&
  Array.isArray(value.turns)
