import { passOn } from '../hosting/notes/hooks/deliveries.ts'
import { tell } from '../hosting/notes/notes.ts'
import { list } from '../jobs/jobs.ts'
import type { Person, TestHouse } from './test-server.ts'

/** Gives an agent a hook, and something that was to be sent to it and was cancelled. */
export async function newDelivery(
  { ctx }: TestHouse,
  agent: Person,
): Promise<{ hook: string; delivery: string }> {
  const made = await agent.call('POST', '/me/hooks', { url: 'https://a.example/' })
  const hook = made.text('hook.id')
  const to = (await ctx.keys.find(agent.key))?.owner ?? ''
  await ctx.db.tx((db) => tell(ctx, db, { to, kind: 'system', text: 'Hi' }))
  await passOn(ctx)
  const sent = await agent.call('GET', `/me/hooks/${hook}/deliveries`)
  const delivery = sent.text('deliveries.0.id')
  const [job] = await list(ctx, `hook:${hook}`, { kinds: ['hook'], limit: 1 })
  await ctx.jobs.cancel(job?.id ?? '')
  return { hook, delivery }
}
