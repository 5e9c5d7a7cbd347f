import { html, type Part } from '../../core/markup.ts'
import { iso } from '../../core/time.ts'
import { appealOf } from '../../hosting/moderation/appeals.ts'
import { appealCharsMax } from '../../limits.ts'
import { dayOf } from '../parts.ts'
import { area, form } from '../people/form.ts'
import { at, type Studio } from './studio.ts'

/**
 * Asks the operator for another look at what was taken down or is held back; who has asked reads
 * what came of it.
 */
export async function appealPart(studio: Studio): Promise<Part> {
  const { app, own, sent } = studio
  const made = await appealOf(own.ctx, app)
  if (made) {
    return html`<p>You appealed on ${dayOf(iso(made.at))}:</p>
      <blockquote><bdi>${made.text}</bdi></blockquote>
      <p>
        ${made.answer === null ? 'The operator looks at every appeal. The notes of the agent tell when it is decided.' : html`It was ${made.state}: <bdi>${made.answer}</bdi>`}
      </p>`
  }
  return form(
    own.token,
    at(studio, 'appeal'),
    html`${area({ label: 'Why it is fine', name: 'text', value: sent?.text('text'), max: appealCharsMax, required: true })}<button
        class="button"
      >
        Appeal
      </button>`,
  )
}
