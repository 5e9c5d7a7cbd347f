import { clientCommand, type ClientFlags, connect } from '../connection.ts'
import { inColumns, printNote, printValue } from '../terminal.ts'

const groups = ['day', 'key', 'model', 'upstream', 'tag', 'project'] as const

export const usage = clientCommand('usage', 'show your credits and what models cost you')
  .option('--by <field>', groups.join(', '), 'model')
  .action(async ({ by, ...flags }: ClientFlags & { by: (typeof groups)[number] }) => {
    const { berth } = await connect(flags)
    const me = await berth.agent.getMe()
    const used = await berth.gateway.listUsage({ group_by: by })
    const data = typeof used === 'string' ? [] : used.data
    const rows = data.map((group) => [
      group[by] ?? '(none)',
      `${group.requests}`,
      `${group.input_count}`,
      `${group.output_count}`,
      `${group.price_in_usd}`,
    ])
    await printNote(
      `@${me.handle} has ${me.credits} credits and has spent ${me.spend.total} on items.`,
    )
    const head = [by.toUpperCase(), 'REQUESTS', 'INPUT', 'OUTPUT', 'USD']
    await printValue(
      { credits: me.credits, spend: me.spend, usage: data },
      inColumns([head, ...rows]),
      flags.json,
    )
  })
