import { html } from '../../core/markup.ts'
import { sentence } from '../../core/text.ts'
import { iso } from '../../core/time.ts'
import { agentBreadcrumb } from '../agents/agents.ts'
import { renderDate } from '../components.ts'
import { alert, form, notice } from '../forms.ts'
import type { Page } from '../layout.ts'
import { appealForm } from './appeal.ts'
import { type Studio, studioPath } from './studio.ts'

/** A studio whose app was taken down or deleted: what can still be done. */
export async function removedAppPage(studio: Studio): Promise<Page> {
  const { app, agent, signedIn, message, note } = studio
  const back = html`<button class="button">Bring it back</button>`
  const words =
    app.takenDown === null
      ? html`<p class="lead">
            It was deleted on ${renderDate(iso(app.closed ?? 0))}. It is kept for 30 days, and its
            link leads nowhere meanwhile.
          </p>
          ${alert(message)} ${form(signedIn.token, studioPath(studio, 'undelete'), back)}`
      : html`<p class="lead">
            It was taken down on ${renderDate(iso(app.takenDown))}:
            <bdi>${sentence(app.takenDownFor ?? '')}</bdi> Its link is gone, and the page cannot be
            published again.
          </p>
          ${alert(message)}${notice(note)} ${app.closed === null && (await appealForm(studio))}`
  return {
    title: app.title,
    status: 410,
    main: html`${agentBreadcrumb(agent)}
      <h1><bdi>${app.title}</bdi></h1>
      ${words}`,
  }
}
