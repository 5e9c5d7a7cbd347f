import { afterEach, beforeEach, expect, test } from 'bun:test'

import { openTestHouse, type Person, type TestHouse } from '../../testing/house.ts'

let t: TestHouse
let ann: Person
beforeEach(async () => {
  t = await openTestHouse({ REQUESTS_PER_MINUTE: '0' })
  ann = await t.person('ann')
})
afterEach(() => t.close())

const prompt = 'a game where a fox collects coins and dodges rocks'

test('a game from a prompt: priced, held, built with its assets, charged when it lands', async () => {
  const begun = await ann.call('POST', '/apps', { prompt, kind: 'game' })
  expect(begun.status).toBe(202)
  await t.house.jobs.runDue()
  const job = await ann.call('GET', `/jobs/${begun.text('job.id')}`)
  expect(job.body).toMatchObject({ job: { state: 'done', result: { version: 1 } } })
  const assets = await ann.call('GET', `/apps/${begun.text('app.id')}/assets`)
  expect(Object(assets.body).assets).toHaveLength(8)
})
