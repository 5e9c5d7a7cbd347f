import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test'

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

const page = `<!doctype html><title>Broken</title>
<script>
  function save() { throw new RangeError('cannot save ' + name) }
  console.error("no sound")
</script>`

beforeEach(async () => {
  t = await startTestServer()
  ann = await t.agent('ann')
  id = await ann.publish({ html: page })
})
afterEach(() => t.close())

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0'
const broken = { kind: 'thrown', text: 'ReferenceError: x is not defined', line: 3, column: 7 }
const early = { ...broken, early: true }
const cut = { kind: 'thrown', text: 'ReferenceError: …', file: '', line: 0, column: 0 }

/** Sends errors of version 1 as a browser in network number `network`. */
const send = (network: number, errors: object[] = [broken], headers = {}) =>
  t.call('POST', `/apps/${id}/errors`, {
    body: { version: 1, errors },
    from: `198.51.${network}.7`,
    headers: { 'user-agent': firefox, ...headers },
  })
const list = async (query = '') =>
  Object((await ann.call('GET', `/apps/${id}/errors${query}`)).body)
const textsOf = async (): Promise<string[]> =>
  (await list()).errors.map(({ text }: { text: string }) => text).sort()

describe('the maker of an app', () => {
  test('reads an early error at once, by version and browser', async () => {
    expect((await send(1, [early])).status).toBe(200)
    // Browsers name different columns.
    await send(1, [{ ...early, column: 1 }], { 'user-agent': 'curl/8' })
    await send(2, [early])
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
    await send(3, [{ ...early, line: 9 }])
    expect(Object((await ann.call('GET', '/me/notes')).body).notes).toHaveLength(1)
  })

  test('reads of another error what the source says, and its place there', async () => {
    const late = ['RangeError: cannot save hunter2', 'no sound', 'TypeError: hunter2 is null']
    await send(
      1,
      late.map((text) => ({ ...broken, text })),
    )
    const { errors, waiting } = await list()
    expect(waiting).toBe(true)
    expect(JSON.stringify(errors)).not.toContain('hunter2')
    expect(await textsOf()).toEqual(['RangeError: cannot save …', 'TypeError: …', 'no sound'])
    const placed = Object.fromEntries(
      errors.map(({ text, line }: { text: string; line: number }) => [text, line]),
    )
    expect(placed).toEqual({ 'RangeError: cannot save …': 3, 'TypeError: …': 0, 'no sound': 4 })
    await send(2, [{ ...broken, text: 'hunter2' }])
    expect(await textsOf()).toContain('…')
  })

  test('reads the texts of scripts of a folder, with their file', async () => {
    const files = [
      { path: 'index.html', text: '<title>Folder</title><script src="main.js"></script>' },
      { path: 'main.js', text: "\nthrow Error('no music of ' + name)\n" },
    ]
    id = await ann.publish({ html: undefined, files })
    await send(1, [{ ...broken, text: 'Error: no music of hunter2' }])
    expect((await list()).errors).toMatchObject([
      { text: 'Error: no music of …', file: 'main.js', line: 2 },
    ])
  })

  test('reads the whole text that three networks sent, instead of the short one', async () => {
    for (const network of [1, 1, 2]) await send(network)
    expect(await list()).toMatchObject({ errors: [{ ...cut, count: 3 }], waiting: true })
    await send(3)
    expect(await list()).toMatchObject({ errors: [{ ...broken, count: 4 }], waiting: false })
  })

  test('keeps the count of other errors that share the short text', async () => {
    const other = { ...broken, text: 'ReferenceError: y is not defined' }
    for (const network of [1, 2]) await send(network)
    for (const network of [3, 4]) await send(network, [other], { 'user-agent': 'curl/8' })
    await send(4, [other])
    expect((await list()).errors).toMatchObject([{ ...cut, count: 5 }])
    await send(5)
    const { errors, waiting } = await list()
    expect(errors).toHaveLength(2)
    expect(errors).toContainEqual(expect.objectContaining({ ...broken, count: 3 }))
    expect(errors).toContainEqual(expect.objectContaining({ ...cut, count: 3 }))
    expect(waiting).toBe(true)
    await send(6, [other])
    expect(await textsOf()).toEqual([broken.text, other.text])
  })

  test('reads the texts of small scripts beside a large one', async () => {
    const files = [
      { path: 'index.html', text: '<title>Folder</title>' },
      { path: 'large.js', text: '/* 1 MB */'.repeat(110_000) },
      { path: 'main.js', text: "throw Error('no music of ' + name)" },
    ]
    id = await ann.publish({ html: undefined, files })
    await send(1, [{ ...broken, text: 'Error: no music of hunter2' }])
    expect((await list()).errors).toMatchObject([{ text: 'Error: no music of …' }])
  })

  test('costs no read of the source where a network has sent its errors of the day', async () => {
    await send(
      1,
      [1, 2, 3].map((line) => ({ ...broken, line })),
    )
    const read = spyOn(t.ctx.storage, 'read')
    await send(1, [{ ...broken, line: 4 }])
    expect(read).not.toHaveBeenCalled()
    await send(1, [{ ...broken, line: 1 }])
    expect(read).toHaveBeenCalled()
  })

  test('reads at once what the maker or its owner saw', async () => {
    await send(1, [broken], { authorization: `Bearer ${ann.key}` })
    expect((await list()).errors).toMatchObject([{ text: broken.text, count: 1 }])
    const olga = await createTestPerson(t, 'olga')
    const code = (await ann.call('POST', '/me/claim')).text('claim.code')
    await olga.call('POST', '/claim', { code })
    const { cookie } = await createTestSession(t, olga)
    await send(1, [broken], { cookie })
    expect((await list()).errors).toMatchObject([{ text: broken.text, count: 2 }])
    const stranger = await createTestSession(t, await createTestPerson(t, 'stan'))
    const ben = await t.agent('ben')
    await send(2, [{ ...broken, line: 9 }], { cookie: stranger.cookie })
    await send(3, [{ ...broken, line: 9 }], { authorization: `Bearer ${ben.key}` })
    expect(await textsOf()).toEqual([broken.text, cut.text])
  })

  test('reads of an app that not everyone may open only what the maker saw', async () => {
    await ann.call('PATCH', `/apps/${id}/audience`, { audience: 'instance' })
    const stan = await createTestSession(t, await createTestPerson(t, 'stan'))
    expect((await send(1, [early], { cookie: stan.cookie })).status).toBe(200)
    expect(await list()).toEqual({ errors: [], waiting: false })
    await send(1, [broken], { authorization: `Bearer ${ann.key}` })
    expect((await list()).errors).toMatchObject([broken])
    await ann.call('PATCH', `/apps/${id}/audience`, { audience: 'link' })
    await send(1, [{ ...early, line: 9 }])
    expect((await list()).errors).toHaveLength(2)
  })

  test('learns little of one player: a network sends three late errors of an app a day', async () => {
    const errors = [1, 2, 3, 4, 5].map((line) => ({ ...broken, line }))
    for (const network of [1, 2, 3]) await send(network, errors)
    expect((await list()).errors.map(({ line }: { line: number }) => line).sort()).toEqual([
      1, 2, 3,
    ])
    t.clock.advance(day)
    for (const network of [1, 2, 3]) await send(network, errors.slice(3))
    expect((await list()).errors).toHaveLength(5)
  })

  test('gets 20 early errors of a network, each 20 times a day', async () => {
    const errors = Array.from({ length: 20 }, (_, at) => ({ ...early, line: at + 1 }))
    await send(1, errors)
    await send(1, [{ ...early, line: 21 }])
    expect((await list()).errors).toHaveLength(20)
    for (let times = 0; times < 20; times += 1) await send(1, [{ ...early, line: 1 }])
    const first = (await list()).errors.find(({ line }: { line: number }) => line === 1)
    expect(first.count).toBe(20)
    await send(1, [broken])
    expect((await list()).errors).toHaveLength(21)
  })

  test('keeps a version at 100 errors, and forgets them after 30 days', async () => {
    for (const network of [1, 2]) await send(network, [{ ...early, text: 'often' }])
    for (let network = 10; network < 10 + errorsPerVersionMax / 10; network += 1) {
      await send(
        network,
        Array.from({ length: 10 }, (_, line) => ({ ...early, text: `${network}`, line })),
      )
    }
    await send(3, [{ ...early, text: 'late' }])
    const texts = await textsOf()
    expect(texts).toHaveLength(errorsPerVersionMax)
    expect(texts).toEqual(expect.arrayContaining(['often', 'late']))
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
