import { isRecord, type Json } from '../../kernel/schema.ts'

/** The page itself prevents its check. The message tells its maker how. */
export class PageError extends Error {}

export const unresponsive =
  'The page does not respond: it has an endless loop, or does too much work at once.'
export const tooLarge =
  'The page uses more than 1 GB of memory. Create fewer objects, and draw on smaller canvases.'

export const crashing =
  'The page crashes, most likely because it uses too much memory. ' +
  'Create fewer objects, and draw on smaller canvases.'

/** Something else prevents the check, such as a busy machine. Nothing is known about the page. */
export class Unchecked extends Error {}

/** Returns "ReferenceError: x is not defined (line 12 of its script)" for an exception. */
export function exceptionMessage({ text, exception, lineNumber }: Json): string {
  const description = isRecord(exception) ? exception.description : undefined
  const [first = ''] = String(description ?? text).split('\n')
  const line = typeof lineNumber === 'number' ? ` (line ${lineNumber + 1} of its script)` : ''
  return `The page throws an error when it opens: ${first.slice(0, 300)}${line}`
}
