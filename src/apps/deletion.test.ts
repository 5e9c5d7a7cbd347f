import { expect, test } from 'bun:test'

import { eq } from 'drizzle-orm'

import { deletedAppKeptMs } from '../kernel/limits.ts'
import { startTestServer } from '../testing/fixtures/test-server.ts'
import { purgeDeleted } from './deletion.ts'
import { apps } from './tables.ts'

test('an app restored during the purge stays, with its versions', async () => {
  const { ctx, clock, agent, request, close } = await startTestServer()
  const ann = await agent('ann')
  const [back, gone] = [await ann.publish(), await ann.publish()]
  for (const id of [back, gone]) await ann.call('DELETE', `/apps/${id}`)
  clock.advance(deletedAppKeptMs + 1)
  const { tx } = ctx.db
  const first: typeof tx = async (work) => {
    Object.assign(ctx.db, { tx })
    await tx((db) => db.update(apps).set({ closed: null }).where(eq(apps.id, back)))
    return tx(work)
  }
  Object.assign(ctx.db, { tx: first })
  await purgeDeleted(ctx, async () => {})
  expect((await request('GET', `/a/${back}`)).status).toBe(200)
  expect((await request('GET', `/a/${gone}`)).status).toBe(404)
  await close()
})
