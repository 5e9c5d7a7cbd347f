import { type Html, html } from '../../core/markup.ts'
import { iso } from '../../core/time.ts'
import { listBackups } from '../../operator/backups.ts'
import type { Outcome } from '../../operator/outcome.ts'
import type { BackupInfo } from '../../storage/backups.ts'
import { formatBytes, formatCount, renderDateTime } from '../components.ts'
import { confirmDialog } from '../confirm-dialog.ts'
import { form, notice } from '../forms.ts'
import type { Page } from '../layout.ts'
import { emptyState, itemList } from '../lists.ts'
import type { SignedInRequest } from '../session.ts'
import { badge, consolePage } from './layout.ts'

/** What may be done with a backup: downloaded, proved, removed. */
function backupActions(token: string, { name, manifest }: BackupInfo): Html {
  const button = (act: string, word: string): Html =>
    html`<button class="button quiet slim" name="act" value="${act}" aria-label="${word} ${name}">
      ${word}
    </button>`
  const path = `/console/backups/${name}`
  const remove = confirmDialog({
    label: 'Remove',
    target: name,
    question: `Remove the backup ${name}?`,
    consequence: 'Nothing can be restored from it any more.',
    submit: { name: 'act', value: 'remove' },
  })
  const download = html`<a class="button slim" href="${path}" aria-label="Download ${name}" download
    >Download</a
  >`
  const acts = html`${manifest && download}${manifest && button('check', 'Check it')}${remove}`
  return form(token, path, html`<div class="acts">${acts}</div>`, 'act')
}

const renderOutcome = ({ ok, text }: Outcome): Html =>
  html`<p class="small">${ok ? text : html`<strong>${text}</strong>`}</p>`

function item(token: string, backup: BackupInfo, outcome: Outcome | undefined): Html {
  const { name, manifest, databaseBytes } = backup
  const size = `database ${formatBytes(databaseBytes)}`
  return html`<li>
    <strong>${manifest ? renderDateTime(manifest.created) : name}</strong>
    ${manifest ? badge(`Berth ${manifest.berth}`) : badge('not finished', 'bad')}
    <p class="small">
      ${manifest ? `${size}, ${formatCount(manifest.files, 'file')} of ${formatBytes(manifest.bytes)}` : size}
    </p>
    ${outcome && renderOutcome(outcome)} ${backupActions(token, backup)}
  </li>`
}

/** The backups in the data folder: make one, download it, prove that it can be restored. */
export async function backupsPage(
  { ctx, token }: SignedInRequest,
  message?: string,
): Promise<Page> {
  const { backups, running, results } = await listBackups(ctx)
  const make = form(token, '/console/backups', html`<button class="button">Make a backup</button>`)
  const shown = backups.filter(({ name }) => name !== running?.name || running.what === 'checked')
  const items = shown.map((backup) => item(token, backup, results.get(backup.name)))
  const none =
    !running &&
    emptyState('No backup yet', 'One is made beside the running house: nobody waits for it.')
  const works =
    running &&
    notice(html`A backup is being ${running.what} since ${renderDateTime(iso(running.since))}.`)
  const whole = html`${works} ${itemList(items, none)}`
  const main = html`${ctx.db.file ? make : html`<p>On PostgreSQL, keep a pg_dump of the database and a copy of the data folder.</p>`}
    ${running ? html`<auto-refresh data-seconds="1">${whole}</auto-refresh>` : whole}
    <p class="small below">
      They lie in <code>backups</code> of the data folder, on the same disk: download one, unpack
      it, and <code>berth restore</code> takes its folder. A check proves all of it and replaces
      nothing.
    </p>`
  const place = '/console/backups'
  return consolePage({ place, title: 'Backups', message, main, scripts: ['auto-refresh.js'] })
}
