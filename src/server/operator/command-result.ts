import { messageOf } from '../../kernel/text.ts'

/** The result of a command: lines to print, and whether it succeeded. */
export interface CommandResult {
  ok: boolean
  text: string
  /** Fields that `--json` prints in the place of the lines. */
  data?: object
}

export const succeeded = (text: string, data?: object): CommandResult => resultOf(true, text, data)
export const failed = (text: string, data?: object): CommandResult => resultOf(false, text, data)

const resultOf = (ok: boolean, text: string, data: object | undefined): CommandResult => ({
  ok,
  text,
  ...(data && { data }),
})

/** Returns the failure of a command that threw. */
export const failedWith = (error: unknown): CommandResult => failed(messageOf(error))
