/** The smallest Elysia server, built into a binary as the house is: the peer of a cold start. */
import { Elysia } from 'elysia'

const app = new Elysia()
  .get('/healthz', () => ({ ok: true }))
  .listen({
    hostname: '127.0.0.1',
    port: 0,
  })
console.log(`${app.server?.port}`)
