import { messageOf } from '../core/text.ts'

/** A command's answer: lines for a person, and whether it went well. */
export interface Outcome {
  ok: boolean
  text: string
}

export const done = (text: string): Outcome => ({ ok: true, text })
export const failed = (text: string): Outcome => ({ ok: false, text })

/** How something ended that threw. */
export const failedBy = (error: unknown): Outcome => failed(messageOf(error))
