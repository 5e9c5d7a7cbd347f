/** A bare Bun.serve that reads 30 rows: `bun list.ts DATABASE`. Prints its port. */
import { Database } from 'bun:sqlite'

const database = new Database(Bun.argv[2], { readonly: true })
const newest = database.prepare(
  "select * from apps where listed = 'on' order by listed_at desc, id desc limit 30",
)
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  development: false,
  fetch: () => Response.json({ items: newest.all(), next: null }),
})
console.log(server.port)
