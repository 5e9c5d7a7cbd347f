import { type Html, html, type Part } from '../../core/markup.ts'
import { iso } from '../../core/time.ts'
import { listBackups } from '../../operator/backups.ts'
import type { Outcome } from '../../operator/outcome.ts'
import type { KeptBackup } from '../../store/backups.ts'
import type { Page } from '../layout.ts'
import { momentOf, sizeOf } from '../parts.ts'
import type { Own } from '../people/desk.ts'
import { form } from '../people/form.ts'
import { badge, consolePage, empty, table } from './frame.ts'

/** What may be done with a backup: downloaded, proved, removed. */
function actsOf(token: string, { name, manifest }: KeptBackup): Html {
  const button = (act: string, word: string): Html =>
    html`<button class="button quiet slim" name="act" value="${act}" aria-label="${word} ${name}">
      ${word}
    </button>`
  const acts = html`${manifest && button('check', 'Check')} ${button('remove', 'Remove')}`
  return html`${
    manifest &&
    html`<a
      class="button quiet slim"
      href="/console/backups/${name}"
      aria-label="Download ${name}"
      download
      >Download</a
    >`
  }
  ${form(token, `/console/backups/${name}`, acts, 'act')}`
}

const outcomeOf = (outcome: Outcome | undefined): Part =>
  outcome &&
  html`<div class="small">
    ${outcome.ok ? outcome.text : html`<strong>${outcome.text}</strong>`}
  </div>`

function row(token: string, backup: KeptBackup, outcome: Outcome | undefined): Html {
  const { name, manifest, databaseBytes } = backup
  return html`<tr>
    <td class="long">
      ${manifest ? momentOf(manifest.created) : name}
      ${manifest ? badge(`Berth ${manifest.berth}`) : badge('not finished', 'bad')}
      ${outcomeOf(outcome)}
    </td>
    <td class="number">${sizeOf(databaseBytes)}</td>
    <td class="number">${manifest ? `${manifest.files}, ${sizeOf(manifest.bytes)}` : '–'}</td>
    <td class="end">${actsOf(token, backup)}</td>
  </tr>`
}

/** The backups in the data folder: make one, download it, prove that it can be restored. */
export async function backupsPage({ house, token }: Own, said?: string): Promise<Page> {
  const { backups, running, ended } = await listBackups(house)
  const make = form(token, '/console/backups', html`<button class="button">Make a backup</button>`)
  const heads = ['Backup', { number: 'Database' }, { number: 'Files' }, { unseen: 'Acts' }]
  const shown = backups.filter(({ name }) => name !== running?.name || running.what === 'checked')
  const rows = shown.map((backup) => row(token, backup, ended.get(backup.name)))
  const list = rows.length > 0 && table('Backups', heads, rows)
  const none =
    !running && empty('No backup yet', 'One is made beside the running house: nobody waits for it.')
  const works =
    running &&
    html`<p class="note" role="status">
      A backup is being ${running.what} since ${momentOf(iso(running.since))}.
    </p>`
  const whole = html`${works} ${list || none}`
  const main = html`${house.db.file ? make : html`<p>On PostgreSQL, keep a pg_dump of the database and a copy of the data folder.</p>`}
    ${running ? html`<live-part data-seconds="1">${whole}</live-part>` : whole}
    <p class="small below">
      They lie in <code>backups</code> of the data folder, on the same disk: download one, unpack
      it, and <code>berth restore</code> takes its folder. A check proves all of it and replaces
      nothing.
    </p>`
  const place = '/console/backups'
  return consolePage({ place, title: 'Backups', said, main, scripts: ['live-part.js'] })
}
