import { afterEach, beforeEach, describe, expect, test } from 'bun:test'

import { errorsPerVersionMax } from '../../kernel/limits.ts'
import { day } from '../../kernel/time.ts'
import { expectError } from '../../testing/expect-error.ts'
import { createTestPerson, createTestSession } from '../../testing/fixtures/people.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'
import { deleteOldErrors } from './errors.ts'

let t: TestServer
let ann: TestAgent
let id: string

beforeEach(async () => {
  t = await startTestServer()
  ann = await t.agent('ann')
  id = await ann.publish()
})
afterEach(() => t.close())

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0'
const broken = { kind: 'thrown', text: 'ReferenceError: x is not defined', line: 3, column: 7 }

/** Sends errors of version 1 as a browser in network number `network`. */
const send = (network: number, errors: object[] = [broken], headers = {}) =>
  t.call('POST', `/apps/${id}/errors`, {
    body: { version: 1, errors },
    from: `198.51.${network}.7`,
    headers: { 'user-agent': firefox, ...headers },
  })
const list = async (query = '') =>
  Object((await ann.call('GET', `/apps/${id}/errors${query}`)).body)

describe('the maker of an app', () => {
  test('reads an error that three networks sent, by version and browser', async () => {
    for (const network of [1, 1, 2]) expect((await send(network)).status).toBe(200)
    expect(await list()).toEqual({ errors: [], waiting: true })
    await send(3, [broken], { 'user-agent': 'curl/8' })
    const [error] = (await list()).errors
    expect(error).toMatchObject({
      ...broken,
      version: 1,
      file: '',
      count: 3,
      browsers: [
        { name: 'Firefox 153', count: 2 },
        { name: 'Other', count: 1 },
      ],
    })
    expect((await list()).waiting).toBe(false)
    expect((await list('?version=2')).errors).toEqual([])
    const { notes } = Object((await ann.call('GET', '/me/notes')).body)
    expect(notes).toMatchObject([{ kind: 'app.error', item: id, data: { version: 1 } }])
    await send(4)
    expect((await list()).errors[0].count).toBe(4)
    expect(Object((await ann.call('GET', '/me/notes')).body).notes).toHaveLength(1)
  })

  test('reads at once what its owner saw', async () => {
    const olga = await createTestPerson(t, 'olga')
    const code = (await ann.call('POST', '/me/claim')).text('claim.code')
    await olga.call('POST', '/claim', { code })
    const { cookie } = await createTestSession(t, olga)
    await send(1, [broken], { cookie })
    expect((await list()).errors).toMatchObject([{ text: broken.text, count: 1 }])
    const stranger = await createTestSession(t, await createTestPerson(t, 'stan'))
    await send(2, [{ ...broken, line: 9 }], { cookie: stranger.cookie })
    expect((await list()).errors).toHaveLength(1)
  })

  test('learns nothing of one player: a network sends three errors of an app a day', async () => {
    const errors = [1, 2, 3, 4, 5].map((line) => ({ ...broken, line }))
    for (const network of [1, 2, 3]) await send(network, errors)
    expect((await list()).errors.map(({ line }: { line: number }) => line).sort()).toEqual([
      1, 2, 3,
    ])
    t.clock.advance(day)
    for (const network of [1, 2, 3]) await send(network, errors.slice(3))
    expect((await list()).errors).toHaveLength(5)
  })

  test('keeps a version at 100 errors, and forgets them after 30 days', async () => {
    for (const network of [1, 2, 3]) await send(network)
    for (let network = 10; network < 10 + errorsPerVersionMax / 2; network += 1) {
      await send(
        network,
        [1, 2, 3].map((line) => ({ ...broken, text: `${network}`, line })),
      )
    }
    for (const network of [1, 2, 3]) await send(network, [{ ...broken, text: 'late' }])
    expect((await list()).errors).toHaveLength(2)
    t.clock.advance(31 * day)
    await deleteOldErrors(t.ctx)
    expect(await list()).toEqual({ errors: [], waiting: false })
  })
})

test('rejects errors of unknown apps and versions, and invalid ones', async () => {
  const path = `/apps/${id}/errors`
  const sent =
    (body: unknown, at = path) =>
    () =>
      t.call('POST', at, { body })
  const fine = { version: 1, errors: [broken] }
  await expectError(t, 404, 'not_found', sent(fine, '/apps/AAAAAAAAAAAA/errors'))
  await expectError(t, 404, 'not_found', sent({ ...fine, version: 2 }))
  const bad = [
    {},
    { ...fine, errors: [] },
    { ...fine, errors: Array(21).fill(broken) },
    { ...fine, errors: [{ ...broken, kind: 'odd' }] },
    { ...fine, errors: [{ ...broken, text: 'x'.repeat(301) }] },
    { ...fine, errors: [{ ...broken, more: 1 }] },
  ]
  for (const body of bad) await expectError(t, 400, 'bad_request', sent(body))
  const foreign = { origin: 'https://evil.example' }
  await expectError(t, 403, 'cross_site', () =>
    t.call('POST', path, { body: fine, headers: foreign }),
  )
  await ann.call('DELETE', `/apps/${id}`)
  await expectError(t, 404, 'not_found', sent(fine))
})

test('lists errors only for the maker', async () => {
  const ben = await t.agent('ben')
  await expectError(t, 401, 'no_key', () => t.call('GET', `/apps/${id}/errors`))
  await expectError(t, 404, 'not_found', () => ben.call('GET', `/apps/${id}/errors`))
  await expectError(t, 400, 'bad_request', () => ann.call('GET', `/apps/${id}/errors?version=x`))
})
