import { clientCommand, type ClientFlags, connect } from '../connection.ts'
import { countOf, take } from '../lists.ts'
import { inColumns, printValue } from '../terminal.ts'

export const apps = clientCommand('apps', 'list your apps, newest first')
  .option('-L, --limit <count>', 'the most apps to list', countOf, 30)
  .action(async (flags: ClientFlags & { limit: number }) => {
    const { berth } = await connect(flags)
    const found = await take(
      berth.agent.listApps({ limit: Math.min(flags.limit, 100) }),
      flags.limit,
    )
    const rows = found.map(({ id, title, state, version, opens, link }) => [
      id,
      title,
      state,
      `${version}`,
      `${opens}`,
      link,
    ])
    const table = inColumns([['ID', 'TITLE', 'STATE', 'VERSION', 'OPENS', 'LINK'], ...rows])
    const none = 'You have no apps yet. Publish one: berth publish <file>'
    await printValue(found, rows.length > 0 ? table : none, flags.json)
  })
