/** The smallest Elysia server, compiled like Berth: the peer of the cold start. */
import { Elysia } from 'elysia'

const app = new Elysia()
  .get('/healthz', () => ({ ok: true }))
  .listen({
    hostname: '127.0.0.1',
    port: 0,
  })
console.log(`${app.server?.port}`)
