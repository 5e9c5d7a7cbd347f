import { signingSecret } from '../../apps/me/hooks/hooks.ts'
import type { SettingName } from '../../kernel/config/settings.ts'
import { html, type Part } from '../../kernel/html.ts'
import { listAlerts, type StoredAlert } from '../../kernel/state/alerts.ts'
import { msg, t, type Text, textOf } from '../../kernel/words/message.ts'
import { copyLine, section } from '../../site/components.ts'
import { form } from '../../site/form.ts'
import { formatCount, renderDateTime } from '../../site/format.ts'
import { button, notice, postForm } from '../../site/forms.ts'
import type { Page } from '../../site/layout.ts'
import { type Cell, type Column, dataTable } from '../../site/lists.ts'
import type { UserRequest } from '../../site/session.ts'
import {
  alertHook,
  alertTriesMax,
  type Condition,
  readConditions,
  type SharedCondition,
} from '../operator/alerts.ts'
import { testAlert } from '../operator/operations.ts'
import { badge, consolePage, silentNote, statusLine } from './components.ts'
import { nameSettings } from './setting-names.ts'

const place = '/console/alerts'

/** Conditions with the setting of their threshold. */
const conditions: Record<Condition['name'], [label: Text, setting?: SettingName]> = {
  errors: [msg('Share of server errors'), 'ALERT_ERROR_PERCENT'],
  latency: [msg('Slow responses (p95)'), 'ALERT_P95_MS'],
  disk: [msg('Free disk space'), 'ALERT_DISK_FREE_BYTES'],
  files: [msg('Stored files')],
  upstreams: [msg('Paused upstreams')],
  payments: [msg('Payments and their servers')],
  backups: [msg('Encrypted backups'), 'BACKUP_TO'],
}

const isThreshold = (setting: SettingName): boolean => setting.startsWith('ALERT_')

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
  const isOpen = ({ name, isFiring }: SharedCondition): boolean =>
    isFiring || stored.some((one) => one.name === name && one.resolved === null)
  // What needs attention comes first.
  const shown = current.toSorted((a, b) => Number(isOpen(b)) - Number(isOpen(a)))
  const firing = shown.filter(isOpen)
  const row = (condition: SharedCondition): Cell[] => {
    const { name, values } = condition
    const [label, setting] = conditions[name]
    const alert = stored.find((one) => one.name === name && one.resolved === null)
    const state = isOpen(condition) ? badge(t('alert'), 'bad') : html`<span class="fine">OK</span>`
    const now = values.map(
      ({ server, sentence }) =>
        html`<div dir="auto">
          ${server !== undefined && `${server}: `}${nameSettings(textOf([sentence]))}
        </div>`,
    )
    // Only an alert has a time and a delivery.
    const ofAlert = [alert && renderDateTime(alert.since), delivery(alert, hasReceiver)]
    return [
      html`${label}
      ${setting !== undefined && html`<div class="small"><a href="/console/settings/${setting}">${isThreshold(setting) ? t('Threshold') : t('Setting')}</a></div>`}`,
      state,
      now,
      ...(firing.length > 0 ? ofAlert : []),
    ]
  }
  const heads: Column[] = [
    { long: t('Condition') },
    { text: t('State'), onPhone: 'figure' },
    { long: t('Now'), onPhone: 'plain' },
    ...(firing.length > 0 ? [t('Since'), t('Webhook')] : []),
  ]
  const summary = firing.length > 0 ? formatCount(firing.length, 'alert') : t('No alerts')
  const sent = query.get('sent') === 'test' && notice(t('The receiver accepted the test.'))
  const main = html`${sent || undefined} ${silentNote(others)}
  ${statusLine(summary, t('Each condition is checked every minute. An alert is sent once, and once when it ends.'), firing.length > 0 ? 'bad' : 'good')}
  ${dataTable(t('Alerts'), heads, shown.map(row))}
  ${section(t('Webhook'), receiver(req, token, hasReceiver))}`
  return consolePage({ place, title: t('Alerts'), message, main, scripts: ['copy-line.js'] })
}

function receiver({ ctx }: UserRequest, token: string, hasReceiver: boolean): Part {
  const path = '/console/settings/ALERT_WEBHOOK_URL'
  return html`${
      hasReceiver
        ? html`<p>Alerts are posted to the <a href="${path}">webhook</a>.</p>
            ${postForm(token, `${place}/test`, button(t('Send test'), 'quiet'), 'act')}`
        : html`<p>Alerts are shown here only. Set a webhook to receive them elsewhere.</p>
            <p class="actions"><a class="button quiet" href="${path}">Set a webhook</a></p>`
    }
    <details>
      <summary>For the program that receives them</summary>
      <p class="small">
        Each alert has the headers of Standard Webhooks and the fields
        <code>type</code> (<code>alert.firing</code>, <code>alert.resolved</code>,
        <code>alert.test</code>), <code>text</code> and <code>data</code>. It is signed with this
        secret:
      </p>
      ${copyLine(signingSecret(ctx, alertHook), t('Signing secret'))}
    </details>`
}

/** Sends a test to the receiver. */
export const testForm = form(testAlert, { then: `${place}?sent=test` })
