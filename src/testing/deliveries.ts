import { passOn } from '../hosting/notes/hooks/deliveries.ts'
import { tell } from '../hosting/notes/notes.ts'
import { list } from '../jobs/jobs.ts'
import type { Person, TestHouse } from './house.ts'

/** Gives an agent a hook, and something that was to be sent to it and was cancelled. */
export async function newDelivery(
  { house }: TestHouse,
  agent: Person,
): Promise<{ hook: string; delivery: string }> {
  const made = await agent.call('POST', '/me/hooks', { url: 'https://a.example/' })
  const hook = made.text('hook.id')
  const to = (await house.keys.find(agent.key))?.owner ?? ''
  await house.db.tx((db) => tell(house, db, { to, kind: 'system', text: 'Hi' }))
  await passOn(house)
  const sent = await agent.call('GET', `/me/hooks/${hook}/deliveries`)
  const delivery = sent.text('deliveries.0.id')
  const [job] = await list(house, `hook:${hook}`, { kinds: ['hook'], limit: 1 })
  await house.jobs.cancel(job?.id ?? '')
  return { hook, delivery }
}
