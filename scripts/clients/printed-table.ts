/** The table of docs/clients.md between its markers. */
import { type Client, clients } from './table.ts'

const versionOf = ({ pinned }: Client): string => pinned.slice(pinned.lastIndexOf('@') + 1)

const [start, end] = ['<!-- clients: printed -->', '<!-- clients: end -->']
const block = new RegExp(`${start}\\n\\n([\\s\\S]*?)\\n\\n${end}`)

/** Returns the day on which a client passed, from the table of a text; undefined for none. */
export function passedIn(text: string, client: Client): string | undefined {
  const cells = [client.name, versionOf(client)].join(' | ')
  const line = text.split('\n').find((one) => one.startsWith(`| ${cells} |`))
  return /\| ([\d-]{10}) \|$/.exec(line ?? '')?.[1]
}

/** Returns the printed table of a text; throws without its markers. */
export function tableIn(text: string): string {
  const table = block.exec(text)?.[1]
  if (table !== undefined) return table
  throw new Error(`The markers are missing: ${start} and ${end}.`)
}

/** Returns a text with the table of all clients between its markers. */
export function withTable(text: string, passed: (client: Client) => string | undefined): string {
  const rows = clients.map((client) =>
    [client.name, versionOf(client), client.api, client.testedBy, passed(client) ?? '–'].join(
      ' | ',
    ),
  )
  const heads = 'Client | Version | API | Tested by | Passed'
  const lines = [heads, '---|---|---|---|---', ...rows].map((row) =>
    row.startsWith('---') ? `|${row}|` : `| ${row} |`,
  )
  return text.replace(tableIn(text), () => lines.join('\n'))
}
