import { listErrors } from '../../apps/errors/errors.ts'
import type { AppErrorBody } from '../../apps/errors/schemas.ts'
import { type Html, html } from '../../kernel/html.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { section } from '../components.ts'
import { formatCount, renderAge } from '../format.ts'
import type { Page } from '../layout.ts'
import { emptyState, live } from '../lists.ts'
import { type Studio, studioPage } from './studio.ts'

/** Renders what the page throws and logs for its players. */
export async function errorsPage(studio: Studio): Promise<Page> {
  const { app, req } = studio
  const { errors, waiting } = await listErrors(req.ctx, app, undefined)
  const more = t(
    'Some texts are cut at “…”, since they may have data of players. They are whole when three networks send them, or when you open the app.',
  )
  const main =
    errors.length === 0
      ? emptyState(
          t('No errors'),
          waiting
            ? more
            : t('What your app throws or logs as an error for its players appears here.'),
        )
      : section(
          t('Errors'),
          html`<p class="small">
              A network counts 20 times a day at most. Errors have no data of
              players.${waiting && ` ${more}`}
            </p>
            <ul class="findings">
              ${errors.map((error) => renderError(error, req.ctx.clock.now()))}
            </ul>`,
        )
  return { ...studioPage(studio, 'errors', live(main)), scripts: ['auto-refresh.js'] }
}

const kinds = { thrown: msg('Thrown'), rejected: msg('Rejected'), logged: msg('Logged') }

function renderError(error: AppErrorBody, now: number): Html {
  const { kind, text, file, line, version, count, browsers, last } = error
  const place = line > 0 ? `${file === '' ? 'line' : `${file}, line`} ${line}` : file
  const seen = browsers.map((one) => `${one.name}: ${one.count}`).join(', ')
  return html`<li>
    <h3>
      <span class="badge ${kind === 'logged' ? 'warn' : 'block'}">${kinds[kind]}</span>
      <span class="small">Version ${version}${place !== '' && `, ${place}`}</span>
    </h3>
    <p><code>${text}</code></p>
    <p class="small">${formatCount(count, 'open')} · ${seen} · last ${renderAge(last, now)}</p>
  </li>`
}
