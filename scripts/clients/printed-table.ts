/** The tables of docs/clients.md between their markers. */
import { chatKinds } from '../../src/testing/fakes/demo-upstreams.ts'
import type { Results } from './every-kind.ts'
import { type Client, clients } from './table.ts'

const versionOf = ({ pinned }: Client): string => pinned.slice(pinned.lastIndexOf('@') + 1)

const end = '<!-- clients: end -->'
const markers = ['<!-- clients: printed -->', '<!-- upstreams: printed -->'] as const
type Marker = (typeof markers)[number]
const [listed, tried] = markers

const kindNames = ['OpenAI', 'Anthropic', 'Gemini', 'Cohere', 'Bedrock']
const noDay = '–'

/** The last success of a client: its day, and the forms by kind of upstream. */
export interface Passed {
  day: string
  results: Results
}

/** Returns the last success of a client, from the tables of a text; undefined for none. */
export function passedIn(text: string, client: Client): Passed | undefined {
  const day = cellsOf(text, listed, client).at(-1)
  if (day === undefined || day === noDay) return undefined
  const cells = cellsOf(text, tried, client).slice(2)
  const forms = ['plain', 'streamed'] as const
  const results = chatKinds.map((kind, at) => [
    kind,
    forms.filter((form) => cells[at]?.includes(form)),
  ])
  return { day, results: Object.fromEntries(results) }
}

/** Returns the printed tables of a text; throws without their markers. */
export const tablesIn = (text: string): string =>
  markers.map((marker) => tableIn(text, marker)).join('\n\n')

/** Returns a text with the tables of all clients between their markers. */
export function withTables(text: string, passed: (client: Client) => Passed | undefined): string {
  const first = clients.map((client) => [
    client.name,
    versionOf(client),
    client.api,
    client.testedBy,
    passed(client)?.day ?? noDay,
  ])
  const second = clients
    .filter(({ hasTools }) => hasTools)
    .map((client) => {
      const { results = {} } = passed(client) ?? {}
      return [
        client.name,
        versionOf(client),
        ...chatKinds.map((kind) => results[kind]?.join(', ') || noDay),
      ]
    })
  const heads = ['Client', 'Version', 'API', 'Tested by', 'Passed']
  return replaced(
    replaced(text, listed, tableOf([heads, ...first])),
    tried,
    tableOf([['Client', 'Version', ...kindNames], ...second]),
  )
}

function tableOf([heads = [], ...rows]: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return [line(heads), `|${heads.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

const blockOf = (marker: Marker) => new RegExp(`${marker}\\n\\n([\\s\\S]*?)\\n\\n${end}`)

function tableIn(text: string, marker: Marker): string {
  const table = blockOf(marker).exec(text)?.[1]
  if (table !== undefined) return table
  throw new Error(`The markers are missing: ${marker} and ${end}.`)
}

const replaced = (text: string, marker: Marker, table: string): string =>
  text.replace(blockOf(marker), () => `${marker}\n\n${table}\n\n${end}`)

/** Returns the cells of a client in a table; none where its version differs. */
function cellsOf(text: string, marker: Marker, client: Client): string[] {
  const start = `| ${client.name} | ${versionOf(client)} |`
  const row = tableIn(text, marker)
    .split('\n')
    .find((line) => line.startsWith(start))
  return row === undefined ? [] : row.slice(2, -2).split(' | ')
}
