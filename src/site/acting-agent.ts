import { getActingAgent } from '../apps/owners/owned-agents.ts'
import type { AppContext } from '../kernel/context.ts'
import { type Html, html, type Part } from '../kernel/html.ts'
import { toCredits } from '../kernel/money.ts'
import { t } from '../kernel/words/message.ts'
import { agentOwner } from '../money/ledger/accounts.ts'
import * as ledger from '../money/ledger/ledger.ts'
import type { Agent } from '../people/agents/agents.ts'
import { formatAmount } from './format.ts'
import { type Form, hiddenField, selectField } from './forms.ts'
import type { UserRequest } from './session.ts'

const fixedAgent = (handle: string, label: string): Html =>
  html`${hiddenField('as', handle)}
    <p class="small">As ${label}</p>`

/** The agent of a form: a hidden field for one agent, or a choice of several. */
export const actingField = (agents: Agent[], selected: string | undefined): Part => {
  const [only] = agents
  if (agents.length === 1 && only) return fixedAgent(only.handle, `@${only.handle}`)
  const options = agents.map(({ handle }) => [handle, `@${handle}`] as const)
  return selectField({ label: t('As'), name: 'as', value: selected ?? '', options })
}

/** A choice between the agents of a person and a new one, which has no handle yet. */
export const agentField = (label: string, agents: readonly Pick<Agent, 'handle'>[]): Html =>
  selectField({
    label,
    name: 'handle',
    value: agents[0]?.handle ?? '',
    options: [
      ...agents.map(({ handle }) => [handle, `@${handle}`] as const),
      ['', t('A new agent')],
    ],
  })

/** Returns the agent that `actingField` or `payingField` names. Throws as `getActingAgent` does. */
export const actingAgent = ({ ctx, visitor }: UserRequest, form: Form): Promise<Agent> =>
  getActingAgent(ctx, visitor.person, form.text('as'))

/** As `actingField`, with the balance of each agent. */
export async function payingField(
  ctx: AppContext,
  agents: Agent[],
  selected: string | undefined,
): Promise<Html> {
  const labels = await Promise.all(
    agents.map(async ({ id, handle }) => {
      const { available } = await ledger.balanceOf(ctx, agentOwner(id))
      return [handle, `@${handle} · ${formatAmount(toCredits(available), 'credit')}`] as const
    }),
  )
  const [only] = labels
  return labels.length === 1 && only
    ? fixedAgent(...only)
    : selectField({ label: t('As'), name: 'as', value: selected ?? '', options: labels })
}
