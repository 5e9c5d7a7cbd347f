/**
 * `bun scripts/clients/all.ts [word ...]`: runs the clients of table.ts, or those whose name or
 * test contains a word, and prints the table of docs/clients.md with the versions and the day of
 * the last success. Exits 1 when a client fails; its row stays as it was. Without words it installs
 * every agent.
 */
import { join } from 'node:path'

import { passedIn, tableIn, withTable } from './printed-table.ts'
import { type Client, clients } from './table.ts'

const path = join(import.meta.dir, '../../docs/clients.md')
const today = new Date().toISOString().slice(0, 10)

/** Writes the table with the present versions, and with the day at a client that passed. */
async function print(passed?: Client): Promise<string> {
  const text = await Bun.file(path).text()
  const printed = withTable(text, (client) => (client === passed ? today : passedIn(text, client)))
  await Bun.write(path, printed)
  return tableIn(printed)
}

const words = Bun.argv.slice(2)
const isChosen = ({ name, testedBy }: Client): boolean =>
  words.length === 0 || words.some((word) => `${name} ${testedBy}`.includes(word))
for (const client of clients.filter(isChosen)) {
  try {
    await client.run()
    await print(client)
    console.log(`passed: ${client.pinned}`)
  } catch (error) {
    console.log(`failed: ${client.pinned}`, error)
    process.exitCode = 1
  }
}
console.log(await print())
// A client that failed can leave a server or a connection open.
process.exit()
