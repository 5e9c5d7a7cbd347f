import type { agent } from '../../../../sdk/typescript/src/index.ts'
import { clientCommand, type ClientFlags, connect } from '../connection.ts'
import { countOf, take } from '../lists.ts'
import { printLine, printValue } from '../terminal.ts'

interface LogFlags extends ClientFlags {
  limit: number
  follow?: boolean
}

export const logs = clientCommand('logs', 'show what happened to your apps')
  .argument('[id]', 'only this app')
  .option('-L, --limit <count>', 'the most lines to show', countOf, 30)
  .option('-f, --follow', 'go on with what happens next, until Ctrl-C')
  .action(async (id: string | undefined, flags: LogFlags) => {
    const { berth } = await connect(flags)
    const isOwn = ({ item }: agent.Note): boolean => id === undefined || item === id
    const all = await take(
      berth.agent.listNotes({ limit: 100 }),
      id === undefined ? flags.limit : 1_000,
    )
    const notes = all.filter(isOwn).slice(0, flags.limit).toReversed()
    const none = flags.follow
      ? 'Nothing happened yet.'
      : 'Nothing happened yet. To wait: berth logs -f'
    await printValue(notes, notes.map(lineOf).join('\n') || none, flags.json)
    if (!flags.follow) return
    const shown = new Set(all.map((note) => note.id))
    for await (const note of berth.agent.watchNotes()) {
      if (isOwn(note) && !shown.has(note.id))
        await printLine(flags.json ? JSON.stringify(note) : lineOf(note))
    }
  })

const lineOf = ({ at, kind, item, text }: agent.Note): string =>
  [at, kind, item, text].filter(Boolean).join('  ')
