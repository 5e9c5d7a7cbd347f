import { signingSecret } from '../../apps/me/hooks/deliveries.ts'
import { html, type Part } from '../../kernel/html.ts'
import { listAlerts, type StoredAlert } from '../../kernel/state/alerts.ts'
import { msg, t, type Text, textOf } from '../../kernel/words/message.ts'
import { copyLine, section } from '../../site/components.ts'
import { form } from '../../site/form.ts'
import { renderDateTime } from '../../site/format.ts'
import { button, notice, postForm } from '../../site/forms.ts'
import type { Page } from '../../site/layout.ts'
import { dataTable } from '../../site/lists.ts'
import type { UserRequest } from '../../site/session.ts'
import {
  alertHook,
  alertTriesMax,
  type Condition,
  readConditions,
  type SharedCondition,
} from '../operator/alerts.ts'
import { testAlert } from '../operator/operations.ts'
import { badge, consolePage, settingLink, silentNote } from './components.ts'

const place = '/console/alerts'

/** Conditions with the setting of their threshold. */
const conditions: Record<Condition['name'], [label: Text, setting?: string]> = {
  errors: [msg('Share of server errors'), 'ALERT_ERROR_PERCENT'],
  latency: [msg('Slow responses (p95)'), 'ALERT_P95_MS'],
  disk: [msg('Free disk space'), 'ALERT_DISK_FREE_BYTES'],
  files: [msg('Stored files')],
  upstreams: [msg('Paused upstreams')],
  payments: [msg('Payments and their servers')],
  backups: [msg('Encrypted backups'), 'BACKUP_TO'],
}

function delivery(stored: StoredAlert | undefined, hasReceiver: boolean): Part {
  if (!stored) return false
  if (stored.isSent) return t('sent')
  if (!hasReceiver) return t('no receiver')
  const tries = t('{tries} of {alertTriesMax} attempts', { tries: stored.tries, alertTriesMax })
  return stored.problem === null ? t('waiting') : `${stored.problem}, ${tries}`
}

/** Renders the conditions, and the receiver of the alerts. */
export async function alertsPage(req: UserRequest, message?: string): Promise<Page> {
  const { ctx, token, query } = req
  const [{ conditions: current, ...others }, stored] = await Promise.all([
    readConditions(ctx),
    listAlerts(ctx),
  ])
  const hasReceiver = ctx.config.alertWebhookUrl !== ''
  const row = ({ name, isFiring, values }: SharedCondition): Part[] => {
    const [label, setting] = conditions[name]
    const alert = stored.find((one) => one.name === name)
    const isOpen = alert !== undefined && alert.resolved === null
    return [
      html`${label}
      ${setting !== undefined && html`<div class="small">${settingLink(setting)}</div>`}`,
      badge(isOpen || isFiring ? t('alert') : t('ok'), isOpen || isFiring ? 'bad' : 'good'),
      values.map(
        ({ server, sentence }) =>
          html`<div dir="auto">${server !== undefined && `${server}: `}${textOf([sentence])}</div>`,
      ),
      isOpen && renderDateTime(alert.since),
      delivery(alert, hasReceiver),
    ]
  }
  const heads = [{ long: t('Condition') }, t('State'), { long: t('Now') }, t('Since'), t('Webhook')]
  const sent = query.get('sent') === 'test' && notice(t('The receiver accepted the test.'))
  const main = html`${sent || undefined} ${silentNote(others)}
  ${dataTable(t('Alerts'), heads, current.map(row))}
  ${section(t('Webhook'), receiver(req, token, hasReceiver))}`
  const lead = t(
    'Conditions are checked each minute. An alert is sent once, and once when it is over.',
  )
  return consolePage({ place, title: t('Alerts'), lead, message, main, scripts: ['copy-line.js'] })
}

function receiver({ ctx }: UserRequest, token: string, hasReceiver: boolean): Part {
  return html`<p>
      ${hasReceiver ? html`Alerts are posted to ${settingLink('ALERT_WEBHOOK_URL')}.` : html`Set ${settingLink('ALERT_WEBHOOK_URL')} to receive alerts.`}
      Each has the headers of Standard Webhooks and the fields
      <code>type</code> (<code>alert.firing</code>, <code>alert.resolved</code>,
      <code>alert.test</code>), <code>text</code> and <code>data</code>.
    </p>
    ${hasReceiver && postForm(token, `${place}/test`, button(t('Send test'), 'quiet'), 'act')}
    <details>
      <summary>Signing secret</summary>
      ${copyLine(signingSecret(ctx, alertHook), t('Signing secret'))}
    </details>`
}

/** Sends a test to the receiver. */
export const testForm = form(testAlert, { then: `${place}?sent=test` })
