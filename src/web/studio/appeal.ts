import { html, type Part } from '../../core/markup.ts'
import { iso } from '../../core/time.ts'
import { findAppeal } from '../../hosting/apps/appeal/appeals.ts'
import { appealCharsMax } from '../../limits.ts'
import { renderDate } from '../components.ts'
import { form, textArea } from '../forms.ts'
import { type Studio, studioPath } from './studio.ts'

/**
 * Asks the operator for another look at what was taken down or is held back; who has asked reads
 * what came of it.
 */
export async function appealForm(studio: Studio): Promise<Part> {
  const { app, signedIn, submitted } = studio
  const made = await findAppeal(signedIn.ctx, app)
  if (made) {
    return html`<p>You appealed on ${renderDate(iso(made.at))}:</p>
      <blockquote><bdi>${made.text}</bdi></blockquote>
      <p>
        ${made.answer === null ? 'The operator looks at every appeal. The notes of the agent tell when it is decided.' : html`It was ${made.state}: <bdi>${made.answer}</bdi>`}
      </p>`
  }
  return form(
    signedIn.token,
    studioPath(studio, 'appeal'),
    html`${textArea({ label: 'Why it is fine', name: 'text', value: submitted?.text('text'), max: appealCharsMax, required: true })}<button
        class="button"
      >
        Appeal
      </button>`,
  )
}
