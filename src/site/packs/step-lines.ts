import type { Step } from '../../apps/folders/folder.ts'
import { rejectForm } from '../forms.ts'

/** Writes steps for a text field, one a line. */
export const stepsText = (steps: readonly Step[]): string =>
  steps.map(({ id, title, done }) => `${id} | ${title} | ${done}`).join('\n')

/** Reads the steps of a text field. Throws `bad_request`. */
export function readSteps(text: string): Step[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  if (lines.length === 0) rejectForm('Enter at least one step.')
  return lines.map((line, at) => {
    const [id = '', title = '', ...rest] = line.split('|').map((part) => part.trim())
    const done = rest.join(' | ')
    if (!/^[a-z0-9-]{1,40}$/.test(id) || title === '' || done === '') {
      rejectForm(`Step ${at + 1} must be "id | title | how one knows that it is done".`)
    }
    return { id, title, done }
  })
}
