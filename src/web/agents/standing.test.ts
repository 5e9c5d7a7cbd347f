import { afterEach, beforeEach, expect, test } from 'bun:test'

import { type Browser, claimedBy, operating, said, signedUp } from '../../testing/pages.ts'
import { openTestHouse, type TestHouse } from '../../testing/test-server.ts'

let h: TestHouse
let bea: Browser
let id = ''
let decide: (decision: string, why?: string) => Promise<unknown>
beforeEach(async () => {
  h = await openTestHouse()
  const ann = await h.person('ann')
  id = await ann.publish()
  bea = await signedUp(h, 'bea')
  await claimedBy(bea, ann)
  const olga = await operating(h)
  const at = '/console/agents/ann'
  decide = (decision, why = '') => olga.fill(at, at, { decision, why })
})
afterEach(() => h.close())

test('shows a suspension and its reason to the owner', async () => {
  const seen = async () => {
    const [list, agent, studio] = [
      await bea.open('/agents'),
      await bea.open('/agents/ann'),
      await bea.open(`/studio/${id}/listing`),
    ]
    return [/· suspended/.test(String(list.body)), said(agent), said(studio)]
  }
  expect(await seen()).toEqual([false, '', ''])
  await decide('suspend', 'It sends spam')
  const words = 'The operator suspended this account: It sends spam. Contact the operator.'
  expect(await seen()).toEqual([true, words, words])
  await decide('unsuspend')
  expect(await seen()).toEqual([false, '', ''])
})

test('shows an operator’s pause without a button to resume', async () => {
  const page = async (): Promise<string> => String((await bea.open('/agents/ann')).body)
  const pausing = '/agents/ann/pause'
  expect(await page()).toContain('A paused agent cannot spend credits.')
  await bea.fill('/agents/ann', pausing, { paused: 'yes' })
  expect(await page()).toMatch(/Spending is paused\.[^]*Resume spending/)
  for (const pausedBy of ['owner too', 'operator alone']) {
    await decide('pause')
    const both = await page()
    expect([pausedBy, both.includes('The operator paused spending.')]).toEqual([pausedBy, true])
    expect(both).not.toContain(pausing)
    await decide('resume')
    const mine = await page()
    expect(mine.includes('Resume spending')).toBe(pausedBy === 'owner too')
    await bea.fill('/agents/ann', pausing, { paused: 'no' })
  }
})
