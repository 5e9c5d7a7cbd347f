import { findAppeal } from '../../apps/appeal/appeals.ts'
import { html, type Part } from '../../kernel/html.ts'
import { appealCharsMax } from '../../kernel/limits.ts'
import { endWithStop } from '../../kernel/text.ts'
import { agentBreadcrumb } from '../agents/agent.ts'
import { renderDate } from '../format.ts'
import { alert, button, notice, postForm, textArea } from '../forms.ts'
import type { Page } from '../layout.ts'
import { type Studio, studioPath } from './studio.ts'

/** Renders the appeal form of a removed or quarantined app, or the appeal and its result. */
export async function appealForm(studio: Studio): Promise<Part> {
  const { app, req, submitted } = studio
  const known = await findAppeal(req.ctx, app)
  if (known) {
    return html`<p>Appeal submitted on ${renderDate(known.at)}:</p>
      <blockquote><bdi>${known.text}</bdi></blockquote>
      <p>
        ${known.answer === null ? 'The operator reviews every appeal. The agent receives a note with the result.' : html`The appeal was ${known.state}: <bdi>${known.answer}</bdi>`}
      </p>`
  }
  return postForm(
    req.token,
    studioPath(studio, 'appeal'),
    html`${textArea({ label: 'Reason for the appeal', name: 'text', value: submitted?.text('text'), max: appealCharsMax, required: true })}${button('Submit appeal')}`,
  )
}

/** Renders an app that was deleted or taken down, with the way to restore it or to appeal. */
export async function removedAppPage(studio: Studio): Promise<Page> {
  const { app, agent, req, message, note } = studio
  const restore = html`${button('Restore')}`
  const status =
    app.takenDown === null
      ? html`<p class="lead">
            This app was deleted on ${renderDate(app.closed ?? 0)}. You can restore it for 30 days.
            Its link does not work until then.
          </p>
          ${alert(message)} ${postForm(req.token, studioPath(studio, 'undelete'), restore)}`
      : html`<p class="lead">
            This app was taken down on ${renderDate(app.takenDown)}:
            <bdi>${endWithStop(app.takedownReason ?? '')}</bdi> Its link no longer works, and the
            page cannot be published again.
          </p>
          ${alert(message)}${notice(note)} ${app.closed === null && (await appealForm(studio))}`
  return {
    title: app.title,
    status: 410,
    main: html`${agentBreadcrumb(agent)}
      <h1><bdi>${app.title}</bdi></h1>
      ${status}`,
  }
}
