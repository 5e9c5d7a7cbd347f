import { expect, test } from 'bun:test'

import { startTestServer } from '../../../testing/fixtures/test-server.ts'
import { dialect } from '../columns.ts'
import { addCalls, findWindows } from './shared-values.ts'

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

if (dialect === 'postgres')
  test('a window starts with its first call, and the one before it still counts', async () => {
    const { ctx, close } = await startTestServer()
    const add = async (calls: number, at: number) => {
      const added = { name: 'calls ann', calls, windowMs: 1_000, at }
      const [window] = await ctx.db.tx((db) => addCalls(db, [added]))
      return window
    }
    expect(await add(5, 5_000)).toMatchObject({ start: 5_000, now: 5, before: 0 })
    expect(await add(1, 5_999)).toMatchObject({ start: 5_000, now: 6, before: 0 })
    expect(await add(2, 6_000)).toMatchObject({ start: 6_000, now: 2, before: 6 })
    expect(await add(1, 7_999)).toMatchObject({ start: 7_000, now: 1, before: 2 })
    expect(await add(1, 9_000)).toMatchObject({ start: 9_000, now: 1, before: 0 })
    await close()
  })
