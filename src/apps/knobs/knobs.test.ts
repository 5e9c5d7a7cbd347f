import { afterEach, beforeEach, describe, expect, test } from 'bun:test'

import { expectError } from '../../testing/expect-error.ts'
import { closeWithoutErrors } from '../../testing/fixtures/closed-servers.ts'
import { claimAgent, type FormBrowser, signUp } from '../../testing/fixtures/form-browser.ts'
import { createTestPerson, createTestSession } from '../../testing/fixtures/people.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'
import { fitValue, knobsMax } from './knobs.ts'
import { findKnobs, setKnobs } from './page-knobs.ts'

const meta = (content: string): string => `<meta name="berth:knob" content="${content}">`
const speed = 'name=speed; label=Speed; type=range; min=1; max=10; value=4'
const sky = 'name=sky; type=color; value=#88CCFF'
const page = `<!doctype html><title>Boat</title>${meta(speed)}${meta(sky)}<p>sea</p>`

describe('the knobs of a page', () => {
  test('have a range, a color, a choice or a switch', () => {
    const level = 'name=level; label=Level; type=choice; options=easy | hard'
    const knobs = findKnobs(page + meta(level) + meta('name=fog; type=switch; value=on'))
    expect(knobs).toEqual([
      { name: 'speed', label: 'Speed', type: 'range', min: 1, max: 10, step: 1, value: 4 },
      { name: 'sky', label: 'sky', type: 'color', value: '#88ccff' },
      { name: 'level', label: 'Level', type: 'choice', options: ['easy', 'hard'], value: 'easy' },
      { name: 'fog', label: 'fog', type: 'switch', value: true },
    ])
  })

  test('are those with a valid declaration, each name once, twelve at most', () => {
    const bad = [
      'name=Speed; type=range; max=3',
      'name=x; type=range; min=3; max=3',
      'name=x; type=range; max=1; step=0.00001',
      'name=x; type=range; max=3; value=9',
      'name=x; type=color; value=red',
      'name=x; type=choice; options=one',
      'name=x; type=choice; options=a|b; value=c',
      'name=x; type=file',
      `name=x; type=switch; label=${'x'.repeat(41)}`,
      '',
    ]
    expect(findKnobs(bad.map(meta).join(''))).toEqual([])
    expect(findKnobs(meta(speed) + meta(speed))).toHaveLength(1)
    expect(findKnobs(`<!-- ${meta(speed)} --><script>${meta(sky)}</script>`)).toEqual([])
    const many = Array.from({ length: 20 }, (_, n) => meta(`name=k${n}; type=switch`)).join('')
    expect(findKnobs(many)).toHaveLength(knobsMax)
  })

  test('are in the head: a long page takes no longer than a short one', () => {
    const long = page + '<b>a</b>'.repeat(300_000)
    expect(findKnobs(long)).toEqual(findKnobs(page))
    expect(setKnobs(long, { speed: 7 }).replace('value=7', 'value=4')).toBe(long)
    expect(findKnobs(long + meta('name=late; type=switch'))).toHaveLength(2)
  })

  test('take only values that they can have, at the nearest step', () => {
    const [range, color] = findKnobs(
      meta('name=gap; type=range; min=0; max=1; step=0.1') + meta(sky),
    )
    if (!range || !color) throw new Error('no knobs')
    expect(fitValue(range, 0.3000001)).toBe(0.3)
    for (const value of [2, -1, Number.NaN, '0.5', null]) {
      expect(fitValue(range, value)).toBeUndefined()
    }
    expect(fitValue(color, 'red;background:url(x)')).toBeUndefined()
  })

  test('get other defaults, and nothing else of the page changes', () => {
    const changed = setKnobs(page, { speed: 7 })
    expect(findKnobs(changed)).toMatchObject([{ value: 7 }, { value: '#88ccff' }])
    expect(changed.replace('value=7', 'value=4')).toBe(page)
    const quoted = meta('name=tone; label=A &quot;b&quot; &amp; c; type=switch')
    expect(findKnobs(setKnobs(quoted, { tone: true }))).toMatchObject([
      { label: 'A "b" & c', value: true },
    ])
  })
})

describe('a remix with knobs', () => {
  let t: TestServer
  let ann: TestAgent
  let ben: TestAgent
  let bella: FormBrowser
  let id: string
  beforeEach(async () => {
    t = await startTestServer()
    ann = await t.agent('ann')
    ben = await t.agent('ben')
    bella = await signUp(t, 'bella')
    id = await ann.publish({ html: page, store: true })
  })
  afterEach(() => closeWithoutErrors(t))

  const keep = (body: object) =>
    bella.send(`/api/apps/${id}/keep`, JSON.stringify(body), { 'content-type': 'application/json' })

  test('has the values as its defaults', async () => {
    const done = await ben.call('POST', `/apps/${id}/remix`, { knobs: { speed: 9 } })
    expect(done.status).toBe(201)
    expect(findKnobs(done.text('html'))).toMatchObject([{ value: 9 }, { value: '#88ccff' }])
    expect((await ann.call('GET', `/apps/${id}/html`)).body).toBe(page)
  })

  test('rejects a name or a value that the page does not have', async () => {
    for (const knobs of [{ wind: 1 }, { speed: 11 }, { speed: '4' }]) {
      await expectError(t, 400, 'bad_request', () =>
        ben.call('POST', `/apps/${id}/remix`, { knobs }),
      )
    }
  })

  test('is kept by a person in one call, as one of their agents', async () => {
    await claimAgent(bella, ben)
    const done = await keep({ knobs: { speed: 2, sky: '#000000' }, as: 'ben' })
    expect(done.status).toBe(201)
    const copy = done.text('app.id')
    const html = (await ben.call('GET', `/apps/${copy}/html`)).body
    expect(findKnobs(String(html))).toMatchObject([{ value: 2 }, { value: '#000000' }])
  })

  test('costs the price of the maker, which the person sees first', async () => {
    await claimAgent(bella, ben)
    await ann.call('PATCH', `/apps/${id}`, { remix: 'price', priceRemix: 40 })
    await expectError(t, 402, 'price_above_max', () =>
      keep({ knobs: { speed: 2 }, as: 'ben', maxCredits: 39 }),
    )
    expect((await keep({ knobs: { speed: 2 }, as: 'ben', maxCredits: 40 })).status).toBe(201)
    expect((await ben.call('GET', '/me')).body).toMatchObject({ credits: 360 })
  })

  test('needs a person with an agent, and an app that may be remixed', async () => {
    const knobs = { speed: 2 }
    await expectError(t, 401, 'no_key', () =>
      t.call('POST', `/apps/${id}/keep`, { body: { knobs } }),
    )
    const { cookie } = await createTestSession(t, await createTestPerson(t, 'paul'))
    await expectError(t, 404, 'not_found', () =>
      t.call('POST', `/apps/${id}/keep`, { body: { knobs }, headers: { cookie } }),
    )
    await expectError(t, 404, 'not_found', () => keep({ knobs, as: 'ann' }))
    await ann.call('PATCH', `/apps/${id}`, { remix: 'off' })
    await expectError(t, 403, 'no_remix', () => keep({ knobs }))
  })
})

test('a page without knobs loads nothing of them', async () => {
  const t = await startTestServer()
  const ann = await t.agent('ann')
  const [plain, turned] = [await ann.publish(), await ann.publish({ html: page })]
  const shell = async (id: string) => String((await t.request('GET', `/a/${id}`)).body)
  expect(await shell(plain)).not.toMatch(/knob/)
  expect(await shell(turned)).toContain('data-knobs=')
  const list = (id: string) => t.request('GET', `/a/${id}/files`)
  expect(JSON.stringify((await list(plain)).body)).not.toContain('knobs')
  expect(JSON.stringify((await list(turned)).body)).toContain('knobs')
  await closeWithoutErrors(t)
})
