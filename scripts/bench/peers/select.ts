/** A bare Bun.serve over one prepared SELECT: `bun select.ts DATABASE`. Prints its port. */
import { Database } from 'bun:sqlite'

const database = new Database(Bun.argv[2], { readonly: true })
const byId = database.prepare('select * from apps where id = ?')
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  development: false,
  fetch: (request) => Response.json(byId.get(request.url.slice(request.url.lastIndexOf('/') + 1))),
})
console.log(server.port)
