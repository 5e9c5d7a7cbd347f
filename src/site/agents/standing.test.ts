import { afterEach, beforeEach, expect, test } from 'bun:test'

import {
  alertText,
  claimAgent,
  type FormBrowser,
  signInOperator,
  signUp,
} from '../../testing/fixtures/form-browser.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'

let t: TestServer
let bea: FormBrowser
let id = ''
let decide: (decision: string, why?: string) => Promise<unknown>
beforeEach(async () => {
  t = await startTestServer()
  const ann = await t.agent('ann')
  id = await ann.publish()
  bea = await signUp(t, 'bea')
  await claimAgent(bea, ann)
  const olga = await signInOperator(t)
  const at = '/console/agents/ann'
  decide = (decision, why = '') => olga.fill(at, at, { decision, why })
})
afterEach(() => t.close())

test('shows a suspension and its reason to the owner', async () => {
  const seen = async () => {
    const [list, agent, studio] = [
      await bea.open('/agents'),
      await bea.open('/agents/ann'),
      await bea.open(`/studio/${id}/listing`),
    ]
    return [/>Suspended</.test(String(list.body)), alertText(agent), alertText(studio)]
  }
  expect(await seen()).toEqual([false, '', ''])
  await decide('suspend', 'It sends spam')
  const words = 'The operator suspended this account: It sends spam. Contact the operator.'
  expect(await seen()).toEqual([true, words, words])
  await decide('unsuspend')
  expect(await seen()).toEqual([false, '', ''])
})

test('shows an operator’s pause without a button to resume', async () => {
  const page = (): Promise<string> => bea.read('/agents/ann')
  const pausing = '/agents/ann/pause'
  expect(await page()).toContain('Pause spending')
  await bea.fill('/agents/ann', pausing, { paused: 'yes' })
  expect(await page()).toMatch(/Spending paused[^]*Resume spending/)
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
