import { expect, test } from 'bun:test'

import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { dialect } from '../dialect.ts'
import { addCalls, findWindows } from './windows.ts'

if (dialect === 'postgres')
  test('calls that are given back never make a count negative', async () => {
    const { ctx, close } = await startTestServer()
    const add = (calls: number) => {
      const added = { name: 'calls ann', calls, windowMs: 1_000, at: 5_000 }
      return ctx.db.tx((db) => addCalls(db, [added]))
    }
    expect(await add(-3)).toMatchObject([{ now: 0, before: 0 }])
    expect(await findWindows(ctx.db.read, ['calls ann'])).toMatchObject([{ now: 0 }])
    expect(await add(5)).toMatchObject([{ now: 5 }])
    expect(await add(-2)).toMatchObject([{ now: 3 }])
    expect(await add(-9)).toMatchObject([{ now: 0 }])
    await close()
  })
