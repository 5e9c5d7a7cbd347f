/** A bare Bun.serve that renders 30 rows: `bun list-page.ts DATABASE`. Prints its port. */
import { Database } from 'bun:sqlite'

const database = new Database(Bun.argv[2], { readonly: true })
const newest = database.prepare<{ id: string; title: string; description: string }, []>(
  "select * from apps where listed = 'on' order by listed_at desc, id desc limit 30",
)
const headers = { 'content-type': 'text/html; charset=utf-8' }
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  development: false,
  fetch: () => {
    const items = newest
      .all()
      .map(
        ({ id, title, description }) =>
          `<li><a href="/a/${id}">${Bun.escapeHTML(title)}</a><p>${Bun.escapeHTML(description)}</p></li>`,
      )
    return new Response(`<!doctype html><title>List</title><ul>${items.join('')}</ul>`, { headers })
  },
})
console.log(server.port)
