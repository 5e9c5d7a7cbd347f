import { afterAll, beforeAll, expect, test } from 'bun:test'

import { doctor } from '../../ledger/doctor.ts'
import { openTestHouse, type Person, type TestHouse } from '../house.ts'

/** Four agents over HTTP alone; the books balance to the Nano. */
let house: TestHouse
let ann: Person
let ben: Person
let cy: Person
let dan: Person

beforeAll(async () => {
  house = await openTestHouse()
  ann = await house.person('ann')
  ben = await house.person('ben')
  cy = await house.person('cyd')
  dan = await house.person('dan')
})
afterAll(async () => {
  expect(house.lines.filter(({ level }) => level === 'fault')).toEqual([])
  await house.close()
})

const game = '<!doctype html><title>Lamp</title><canvas></canvas><script>let lit = 0</script>'
const changed = game.replace('lit = 0', 'lit = 9')
let lamp = ''
let copy = ''

const creditsOf = async (person: Person): Promise<unknown> =>
  Reflect.get(Object((await person.call('GET', '/me')).body), 'credits')

test('ann publishes a priced game with a file, and it is found', async () => {
  lamp = (
    await ann.call('POST', '/apps', {
      ...{ html: game, kind: 'game', shelf: 'arcade', description: 'Keep the lamp lit.' },
      ...{ store: true, remix: 'price', priceRemix: 150 },
    })
  ).text('app.id')
  await ann.call('PUT', `/apps/${lamp}/assets/level.json`, '[1,2,3]')
  const found = await house.call('GET', '/explore?q=lamp+lit&kind=game&shelf=arcade&price=paid')
  expect(found.body).toMatchObject({ items: [{ id: lamp, maker: '@ann', priceRemix: 150 }] })
  expect((await house.call('GET', `/explore/${lamp}/source`)).code).toBe('price_above_max')
})

test('ben buys a remix, once for his ref, changes it and shares it', async () => {
  const wanted = { maxCredits: 150, ref: 'ben-lamp-1' }
  const [one, two] = await Promise.all([
    ben.call('POST', `/apps/${lamp}/remix`, wanted),
    ben.call('POST', `/apps/${lamp}/remix`, wanted),
  ])
  expect([one, two].map(({ status, code }) => code ?? status).sort()).toEqual([201, 'busy'])
  const bought = await ben.call('POST', `/apps/${lamp}/remix`, wanted)
  expect(bought.body).toMatchObject({ html: game, bought: { credits: 150, makerCredits: 120 } })
  copy = bought.text('app.id')
  expect((await ben.call('GET', `/apps/${copy}/assets/level.json`)).body).toEqual([1, 2, 3])
  expect((await ben.call('GET', `/explore/${lamp}/source`)).body).toMatchObject({ html: game })

  await ben.call('POST', `/apps/${copy}/versions`, { html: changed })
  await ben.call('PATCH', `/apps/${copy}`, { title: 'Lamps', store: true })
  expect((await ben.call('GET', '/apps')).body).toMatchObject({ apps: [{ id: copy, version: 2 }] })
})

test('cy cannot pay: nothing is copied and nothing charged', async () => {
  await ann.call('PATCH', `/apps/${lamp}`, { priceRemix: 1_000 })
  const short = await cy.call('POST', `/apps/${lamp}/remix`, { ref: 'cy-lamp-01' })
  expect([short.status, short.code]).toEqual([402, 'not_enough_credits'])
  const capped = await cy.call('POST', `/apps/${lamp}/remix`, { maxCredits: 400 })
  expect([capped.status, capped.code]).toEqual([402, 'price_above_max'])
  expect(await creditsOf(cy)).toBe(400)
  expect((await cy.call('GET', '/apps')).body).toEqual({ apps: [], next: null })
})

test("dan remixes ben's remix for free, and everyone is credited by name", async () => {
  const made = await dan.call('POST', `/apps/${copy}/remix`)
  expect(made.body).toMatchObject({ html: changed, bought: { credits: 0 } })
  const id = made.text('app.id')
  await dan.call('PATCH', `/apps/${id}`, { title: 'More lamps', store: true })
  expect((await house.call('GET', `/explore/${id}`)).body).toMatchObject({
    lineage: [
      { id: copy, title: 'Lamps', maker: '@ben' },
      { id: lamp, title: 'Lamp', maker: '@ann' },
    ],
  })
  expect((await house.call('GET', `/explore/${lamp}`)).body).toMatchObject({
    item: { remixes: 1 },
    remixes: [{ id: copy, maker: '@ben' }],
  })
  expect((await house.call('GET', '/explore?sort=remixed&limit=2')).body).toMatchObject({
    items: [{ remixes: 1 }, { remixes: 1 }],
  })
})

test('ann sees what she earned, to the credit, and the books balance to the Nano', async () => {
  expect((await ann.call('GET', '/me/ledger')).body).toMatchObject({
    entries: [
      { kind: 'remix', item: lamp, credits: 120, balance: 520 },
      { kind: 'start', credits: 400 },
    ],
  })
  expect((await ben.call('GET', '/me')).body).toMatchObject({
    ...{ credits: 250, held: 0 },
    spend: { remixes: 150, total: 150 },
  })
  expect(await doctor(house.house)).toMatchObject({ ok: true })
})
