import type { AppContext } from '../../kernel/context.ts'
import { html, type Part } from '../../kernel/html.ts'
import { formatDecimal, toUsd } from '../../kernel/money.ts'
import { t } from '../../kernel/words/message.ts'
import { listNewest, type PaymentRow } from '../../money/payments/x402/rows.ts'
import type { PaymentHealth } from '../../money/payments/x402/x402.ts'
import { section } from '../../site/components.ts'
import { renderDateTime } from '../../site/format.ts'
import { dataTable } from '../../site/lists.ts'
import { badge, settingLink } from './components.ts'

const rowsShown = 20

const healthRow = ({ name, problem }: PaymentHealth): Part[] => [
  name,
  badge(problem === undefined ? 'up' : 'down', problem === undefined ? 'good' : 'bad'),
  problem ?? '',
]

const stateOf = ({ state, credited }: PaymentRow): string =>
  credited !== null && state === 'mined' ? 'credited' : state

const paymentRow = (payment: PaymentRow): Part[] => [
  renderDateTime(payment.created),
  html`<code>${payment.account}</code>`,
  `$${formatDecimal(toUsd(payment.amount))}`,
  stateOf(payment),
  html`<code>${payment.hash ?? ''}</code>`,
]

/** Renders the servers and the newest payments of agents. */
export async function x402Section({ x402, db }: AppContext): Promise<Part> {
  if (!x402)
    return section(
      t('Agents'),
      html`<p class="small">Agents cannot pay. Set ${settingLink('X402_PAY_TO')}.</p>`,
    )
  const [health, payments] = await Promise.all([x402.health(), listNewest(db.read, rowsShown)])
  return section(
    t('Agents on {name}', { name: x402.network.name ?? x402.network.id }),
    html`${dataTable(t('Settlement'), [t('Server or setting'), t('State'), { long: t('Problem') }], health.map(healthRow))}
    ${dataTable(
      t('Newest payments'),
      [
        t('Time'),
        { long: t('Account') },
        { number: t('Amount') },
        t('State'),
        { long: t('Transaction') },
      ],
      payments.map(paymentRow),
      html`<p>No payments yet.</p>`,
    )}`,
  )
}
