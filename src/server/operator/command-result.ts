import { messageOf } from '../../kernel/text.ts'

/** The result of a command: lines to print, and whether it succeeded. */
export interface CommandResult {
  ok: boolean
  text: string
}

export const succeeded = (text: string): CommandResult => ({ ok: true, text })
export const failed = (text: string): CommandResult => ({ ok: false, text })

/** Returns the failure of a command that threw. */
export const failedWith = (error: unknown): CommandResult => failed(messageOf(error))
