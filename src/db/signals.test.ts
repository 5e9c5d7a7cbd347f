import { expect, test } from 'bun:test'

import { startTestServer } from '../testing/fixtures/test-server.ts'
import { Signals } from './signals.ts'

test('a value that is too long for a notification is logged, and the others are sent', async () => {
  const { ctx, clock, close } = await startTestServer()
  const sent: string[] = []
  const warned: unknown[] = []
  const channel = {
    publish: async (payloads: string[]) => void sent.push(...payloads),
    listen: async () => async () => {},
  }
  const db = Object.create(ctx.db, { channel: { value: channel } })
  const log = Object.create(ctx.log, {
    warn: { value: (...entry: unknown[]) => void warned.push(entry) },
  })
  const signals = new Signals({ db, log, clock })
  await signals.send('failures', 'x'.repeat(2_000))
  await signals.send('failures', 'short')
  expect(warned).toEqual([['signals.too_long', { topic: 'failures', chars: 2_015 }]])
  expect(sent.map((payload) => payload.slice(payload.indexOf(' ') + 1))).toEqual([
    '["failures","short"]',
  ])
  await signals.close()
  await close()
})
