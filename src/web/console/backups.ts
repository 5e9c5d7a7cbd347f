import { type Html, html } from '../../core/markup.ts'
import { iso } from '../../core/time.ts'
import { listBackups } from '../../operator/backups.ts'
import type { Outcome } from '../../operator/outcome.ts'
import type { KeptBackup } from '../../storage/backups.ts'
import { counted, momentOf, sizeOf } from '../components.ts'
import { ask } from '../confirm-dialog.ts'
import { form, notice } from '../forms.ts'
import type { Page } from '../layout.ts'
import { empty, itemList } from '../lists.ts'
import type { Own } from '../session.ts'
import { badge, consolePage } from './layout.ts'

/** What may be done with a backup: downloaded, proved, removed. */
function actsOf(token: string, { name, manifest }: KeptBackup): Html {
  const button = (act: string, word: string): Html =>
    html`<button class="button quiet slim" name="act" value="${act}" aria-label="${word} ${name}">
      ${word}
    </button>`
  const path = `/console/backups/${name}`
  const remove = ask({
    word: 'Remove',
    of: name,
    question: `Remove the backup ${name}?`,
    ends: 'Nothing can be restored from it any more.',
    sends: { name: 'act', value: 'remove' },
  })
  const download = html`<a class="button slim" href="${path}" aria-label="Download ${name}" download
    >Download</a
  >`
  const acts = html`${manifest && download}${manifest && button('check', 'Check it')}${remove}`
  return form(token, path, html`<div class="acts">${acts}</div>`, 'act')
}

const outcomeOf = ({ ok, text }: Outcome): Html =>
  html`<p class="small">${ok ? text : html`<strong>${text}</strong>`}</p>`

function item(token: string, backup: KeptBackup, outcome: Outcome | undefined): Html {
  const { name, manifest, databaseBytes } = backup
  const size = `database ${sizeOf(databaseBytes)}`
  return html`<li>
    <strong>${manifest ? momentOf(manifest.created) : name}</strong>
    ${manifest ? badge(`Berth ${manifest.berth}`) : badge('not finished', 'bad')}
    <p class="small">
      ${manifest ? `${size}, ${counted(manifest.files, 'file')} of ${sizeOf(manifest.bytes)}` : size}
    </p>
    ${outcome && outcomeOf(outcome)} ${actsOf(token, backup)}
  </li>`
}

/** The backups in the data folder: make one, download it, prove that it can be restored. */
export async function backupsPage({ ctx, token }: Own, said?: string): Promise<Page> {
  const { backups, running, results } = await listBackups(ctx)
  const make = form(token, '/console/backups', html`<button class="button">Make a backup</button>`)
  const shown = backups.filter(({ name }) => name !== running?.name || running.what === 'checked')
  const items = shown.map((backup) => item(token, backup, results.get(backup.name)))
  const none =
    !running && empty('No backup yet', 'One is made beside the running house: nobody waits for it.')
  const works =
    running &&
    notice(html`A backup is being ${running.what} since ${momentOf(iso(running.since))}.`)
  const whole = html`${works} ${itemList(items, none)}`
  const main = html`${ctx.db.file ? make : html`<p>On PostgreSQL, keep a pg_dump of the database and a copy of the data folder.</p>`}
    ${running ? html`<live-part data-seconds="1">${whole}</live-part>` : whole}
    <p class="small below">
      They lie in <code>backups</code> of the data folder, on the same disk: download one, unpack
      it, and <code>berth restore</code> takes its folder. A check proves all of it and replaces
      nothing.
    </p>`
  const place = '/console/backups'
  return consolePage({ place, title: 'Backups', said, main, scripts: ['live-part.js'] })
}
