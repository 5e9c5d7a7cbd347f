import type { AppContext } from '../../kernel/context.ts'
import { type Html, html } from '../../kernel/html.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { section } from '../../site/components.ts'
import { formatBytes, formatCount, renderDateTime } from '../../site/format.ts'
import { alert, button, confirmDialog, notice, postForm } from '../../site/forms.ts'
import type { Page } from '../../site/layout.ts'
import { emptyState, itemList } from '../../site/lists.ts'
import type { UserRequest } from '../../site/session.ts'
import { archiveTime } from '../../store/archives.ts'
import type { BackupInfo } from '../../store/backups.ts'
import { describeArchives } from '../operator/archives.ts'
import type { CommandResult } from '../operator/command-result.ts'
import { listBackups, newest as newestArchive } from '../operator/console-backups.ts'
import { badge, consolePage, settingLink, statusLine } from './components.ts'

/** A restore with a question before it. */
const restoreDialog = (target: string, time: Html): Html =>
  confirmDialog({
    label: t('Restore'),
    target,
    question: html`Restore the backup of ${time}?`,
    consequence: t(
      'The server verifies the backup, restarts with it, and is away for a few seconds. What changed since then is gone from the site, balances included. The present data stays whole in a folder beside it.',
    ),
    submit: { name: 'act', value: 'restore' },
    // The present data stays.
    isDestructive: false,
  })

function backupActions(token: string, { name, manifest }: BackupInfo): Html {
  const path = `/console/backups/${name}`
  const remove = confirmDialog({
    label: t('Delete'),
    target: name,
    question: t('Delete backup {name}?', { name }),
    consequence: t('You can no longer restore from it.'),
    submit: { name: 'act', value: 'remove' },
  })
  const download = html`<a
    class="button quiet slim"
    href="${path}"
    aria-label="Download ${name}"
    download
    >Download</a
  >`
  const acts = html`${manifest && download}${manifest && button(t('Verify'), 'quiet slim', { name: 'act', value: 'check', target: name })}${manifest && restoreDialog(name, renderDateTime(manifest.created))}${remove}`
  return postForm(token, path, html`<div class="actions">${acts}</div>`, 'act')
}

const renderOutcome = ({ ok, text }: CommandResult): Html =>
  html`<p class="small">${ok ? text : html`<strong>${text}</strong>`}</p>`

function item(token: string, backup: BackupInfo, outcome: CommandResult | undefined): Html {
  const { name, manifest, databaseBytes } = backup
  const size = t('database {databaseBytes}', { databaseBytes: formatBytes(databaseBytes) })
  return html`<li>
    <strong>${manifest ? renderDateTime(manifest.created) : name}</strong>
    ${manifest ? html`<span class="small">${t('Berth {berth}', { berth: manifest.berth })}</span>` : badge('incomplete', 'bad')}
    <p class="small">
      ${manifest ? t('{size}, {files} of {bytes}', { size, files: formatCount(manifest.files, 'file'), bytes: formatBytes(manifest.bytes) }) : size}
    </p>
    ${outcome && renderOutcome(outcome)} ${backupActions(token, backup)}
  </li>`
}

type Archives = Awaited<ReturnType<typeof describeArchives>>

/** The newest of the backups that the server writes to BACKUP_TO. */
function encryptedBackups({ config, state }: AppContext, token: string, archives: Archives): Html {
  if (!archives) {
    return html`<p>
        The server can write an encrypted backup by itself, to a folder on another disk or to a
        bucket. Set these two in the environment or in berth.toml, and restart Berth:
      </p>
      <ul>
        <li>${settingLink('BACKUP_TO')}: a folder, or <code>s3://bucket/prefix</code></li>
        <li>${settingLink('BACKUP_PASSPHRASE')}: at least 12 characters, kept elsewhere too</li>
      </ul>`
  }
  const { newest, isOld, text } = archives
  const outcome = state.backupWork.results.get(newestArchive)
  const latest =
    newest &&
    html`<p>
      <strong>${renderDateTime(archiveTime(newest.name))}</strong>
      ${badge(isOld ? t('too old') : t('up to date'), isOld ? 'bad' : 'good')}
      ${formatBytes(newest.bytes)} in <code>${config.backupTo}</code>
    </p>`
  const restore =
    newest &&
    postForm(
      token,
      `/console/backups/${newestArchive}`,
      html`<div class="actions">
        ${restoreDialog(t('the newest backup'), renderDateTime(archiveTime(newest.name)))}
      </div>`,
      'act',
    )
  return html`${isOld && alert(text)} ${latest}
    <p class="small">
      Written every ${config.backupEvery}, kept ${config.backupKeep}. To verify the newest, run
      <code>berth backup verify</code>.
    </p>
    ${outcome && renderOutcome(outcome)} ${restore}`
}

/** Folders that restores left. The operator removes them on the disk. */
const previousData = ([newest, ...others]: string[]): Html | undefined =>
  newest === undefined
    ? undefined
    : section(
        t('Data before a restore'),
        html`<p class="small">
          The data before the last restore is in <code>${newest}</code> in the data
          folder${others.length > 0 && html`, beside ${formatCount(others.length, 'older folder')}`}.
          Delete it on the disk once everything works. To go back, stop the server and move its
          content into the data folder.
        </p>`,
      )

const workLabels = {
  made: msg('Creating a backup'),
  checked: msg('Verifying a backup'),
  archived: msg('Writing an encrypted backup'),
  restored: msg('Verifying a backup to restore it'),
}

/** Says how old the newest backup is, and what it protects from. */
function backupStatus(backups: BackupInfo[], archives: Archives): Html {
  if (archives?.newest) {
    const at = renderDateTime(archiveTime(archives.newest.name))
    const meaning = archives.isOld
      ? t('Encrypted, but older than it should be.')
      : t('Encrypted, written by the server.')
    return statusLine(html`${t('Last backup')} ${at}`, meaning, archives.isOld ? 'bad' : 'good')
  }
  const [newest] = backups.flatMap(({ manifest }) => manifest ?? [])
  const setUp = html`<a href="#encrypted">${t('Set up encrypted backups')}</a>`
  return newest
    ? statusLine(
        html`${t('Last backup')} ${renderDateTime(newest.created)}`,
        html`On the disk of this server only, and not encrypted. ${setUp}`,
        'warn',
      )
    : statusLine(t('No backup yet'), html`If this disk fails, everything is lost. ${setUp}`, 'bad')
}

/** Renders the state of the backups, their list, and the encrypted ones. */
export async function backupsPage({ ctx, token }: UserRequest, message?: string): Promise<Page> {
  const { backups, previous, running, results } = await listBackups(ctx)
  const archives = await describeArchives(ctx)
  const shown = backups.filter(({ name }) => name !== running?.name || running.what !== 'made')
  const items = shown.map((backup) => item(token, backup, results.get(backup.name)))
  const none =
    !running && emptyState(t('No backups yet'), t('Berth keeps running while a backup is created.'))
  const works =
    running && notice(html`${workLabels[running.what]} since ${renderDateTime(running.since)}.`)
  const whole = html`${works} ${itemList(items, none)}`
  const main = ctx.db.file
    ? html`${backupStatus(shown, archives)}
        ${section(
          t('Backups on this disk'),
          html`${running ? html`<auto-refresh data-seconds="1">${whole}</auto-refresh>` : whole}
            <p class="small below">
              They are in the folder <code>backups</code> of the data folder. Verifying a backup
              changes nothing. On another machine, unpack a download and run
              <code>berth restore</code> with its folder.
            </p>`,
        )}
        <section id="encrypted">
          <h2>Encrypted backups</h2>
          ${encryptedBackups(ctx, token, archives)}
        </section>
        ${previousData(previous)}`
    : html`<p>Backups are not available on PostgreSQL. Use pg_dump and copy the data folder.</p>
        ${whole}`
  return consolePage({
    place: '/console/backups',
    title: t('Backups'),
    action: ctx.db.file && postForm(token, '/console/backups', button(t('Create backup')), 'act'),
    message,
    main,
    scripts: ['auto-refresh.js'],
  })
}
