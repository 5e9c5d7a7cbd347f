import { html } from '../../core/markup.ts'
import { sentence } from '../../core/text.ts'
import { iso } from '../../core/time.ts'
import type { Page } from '../layout.ts'
import { dayOf } from '../parts.ts'
import { crumb } from '../people/agents.ts'
import { alert, form, notice } from '../people/form.ts'
import { appealPart } from './appeal.ts'
import { at, type Studio } from './studio.ts'

/** A studio whose app was taken down or deleted: what can still be done. */
export async function gonePage(studio: Studio): Promise<Page> {
  const { app, agent, own, said, note } = studio
  const back = html`<button class="button">Bring it back</button>`
  const words =
    app.takenDown === null
      ? html`<p class="lead">
            It was deleted on ${dayOf(iso(app.closed ?? 0))}. It is kept for 30 days, and its link
            leads nowhere meanwhile.
          </p>
          ${alert(said)} ${form(own.token, at(studio, 'undelete'), back)}`
      : html`<p class="lead">
            It was taken down on ${dayOf(iso(app.takenDown))}:
            <bdi>${sentence(app.takenDownFor ?? '')}</bdi> Its link is gone, and the page cannot be
            published again.
          </p>
          ${alert(said)}${notice(note)} ${app.closed === null && (await appealPart(studio))}`
  return {
    title: app.title,
    status: 410,
    main: html`${crumb(agent)}
      <h1><bdi>${app.title}</bdi></h1>
      ${words}`,
  }
}
