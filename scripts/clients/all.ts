/**
 * `bun scripts/clients/all.ts [word ...]`: runs the clients of table.ts, or those whose name or
 * test contains a word, and prints the tables of docs/clients.md with the versions, the day of the
 * last success, and the forms in which each kind of upstream responded. Exits 1 when a client
 * fails; its rows stay as they were. Without words it installs every agent.
 */
import { join } from 'node:path'

import { type Passed, passedIn, tablesIn, withTables } from './printed-table.ts'
import { type Client, clients } from './table.ts'

const path = join(import.meta.dir, '../../docs/clients.md')
const today = new Date().toISOString().slice(0, 10)

/** Writes the tables with the present versions, and with the success of a client. */
async function print(of?: Client, passed?: Passed): Promise<string> {
  const text = await Bun.file(path).text()
  const printed = withTables(text, (client) => (client === of ? passed : passedIn(text, client)))
  await Bun.write(path, printed)
  return tablesIn(printed)
}

const words = Bun.argv.slice(2)
const isChosen = ({ name, testedBy }: Client): boolean =>
  words.length === 0 || words.some((word) => `${name} ${testedBy}`.includes(word))
for (const client of clients.filter(isChosen)) {
  try {
    await print(client, { day: today, results: await client.run() })
    console.log(`passed: ${client.pinned}`)
  } catch (error) {
    console.log(`failed: ${client.pinned}`, error)
    process.exitCode = 1
  }
}
console.log(await print())
// A client that failed can leave a server or a connection open.
process.exit()
