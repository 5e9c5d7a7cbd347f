import type { ApiError } from '../../kernel/errors.ts'
import { invalidField } from '../fields.ts'
import type { Tool } from './chat-request.ts'

/** Throws `bad_request` for tools that take text, at upstreams that know only functions. */
export function rejectCustomTools(tools: readonly Tool[]): void {
  if (!tools.some(({ isCustom }) => isCustom)) return
  const problem = 'This model accepts only tools of the type function, not of the type custom.'
  throw invalidField('tools', problem)
}

/** Throws `bad_request` for several completions, at upstreams that give one. */
export function rejectChoices(choices: number): void {
  if (choices > 1) throw invalidField('n', 'This model returns one choice: set n to 1.')
}

/** Creates the error of media that an upstream does not take. */
export const unsupportedMedia = (taken: string): ApiError<'bad_request'> =>
  invalidField('messages', `This model accepts ${taken} only.`)
