import { Elysia } from 'elysia'

import type { House } from '../house.ts'

/** /healthz says that the process answers; /readyz that its database and its files do too. */
export const health = (house: House) =>
  new Elysia()
    .get('/healthz', () => ({ ok: true }))
    .get('/readyz', async ({ status }) => {
      try {
        await house.db.ping()
        house.store.checkRoom(0)
        return { ok: true }
      } catch (error) {
        house.log.fault('not ready', error)
        return status(503, { ok: false })
      }
    })
