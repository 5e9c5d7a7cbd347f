import { afterAll, describe, expect, test } from 'bun:test'

import { htmlBytesMax, jsonBodyBytesMax } from '../kernel/limits.ts'
import { expectError } from './expect-error.ts'
import { startTestServer } from './fixtures/test-server.ts'

const t = await startTestServer()
const ann = await t.agent('ann')
const id = await ann.publish()
afterAll(async () => {
  expect(t.lines.filter(({ level }) => level === 'error')).toEqual([])
  await t.close()
})

const html = '<!doctype html><title>Boats</title><p>hello</p>'
const json = { 'content-type': 'application/json' }
const deep = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`

/** Every operation with a JSON body, and a valid body. */
const takers = (): [method: string, path: string, fine: Record<string, unknown>][] => [
  ['POST', '/keys', { handle: 'someone-new' }],
  ['PATCH', '/me', { about: 'hello' }],
  ['POST', '/me/keys', { name: 'laptop' }],
  ['POST', '/apps', { html }],
  ['PATCH', `/apps/${id}`, { title: 'Boats' }],
  ['POST', `/apps/${id}/versions`, { html }],
  ['POST', `/apps/${id}/remix`, { ref: 'remix-0001' }],
  ['POST', '/report', { item: id, reason: 'other', text: 'x', contact: 'y' }],
  ['POST', '/me/hooks', { url: 'https://a.example/', kinds: ['system'] }],
  ['POST', `/apps/${id}/appeal`, { text: 'It is fine.' }],
  ['PUT', `/explore/${id}/review`, { stars: 5, text: 'Calm.' }],
  ['POST', `/reviews/${id}/answer`, { text: 'Thank you.' }],
  ['POST', `/explore/${id}/comments`, { text: 'Hello', replyTo: id }],
  ['POST', '/me/notes/read', { ids: [id] }],
]

/** For tests that compare the whole database around each of hundreds of calls. */
const manyCallsMs = 180_000

describe('every operation with a JSON body rejects', () => {
  const bodies: [what: string, body: string | Uint8Array][] = [
    ['broken JSON', '{"html": "<p>'],
    ['text that is not JSON', 'html=<p>hello</p>'],
    ['two values', '{} {}'],
    ['an array', '[]'],
    ['a text', '"hello"'],
    ['a number', '1e400'],
    ['null', 'null'],
    ['deep nesting', `{"html": ${deep(100)}}`],
    ['very deep nesting', deep(20_000)],
    ['bytes that are not UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
    ['a body that is only spaces', '   '],
  ]
  test.each(bodies)('%s', async (_, body) => {
    for (const [method, path] of takers()) {
      await expectError(t, 400, 'bad_request', () => ann.call(method, path, body, json))
    }
  })

  test('an unknown field, with its name and without its value', async () => {
    for (const [method, path, fine] of takers()) {
      const sent = { ...fine, colour: 'secret-blue' }
      const response = await expectError(t, 400, 'bad_request', () => ann.call(method, path, sent))
      expect(response.text('error')).toBe('"colour" is not a field of this operation. Remove it.')
    }
    const tricky = '{"html":"<p>hi</p>","__proto__":{"store":true}}'
    await expectError(t, 400, 'bad_request', () => ann.call('POST', '/apps', tricky, json))
  })

  test(
    'a field of a wrong type',
    async () => {
      const others = [7, true, null, [], {}, ['x'], { toString: 'x' }]
      for (const [method, path, fine] of takers()) {
        for (const field of Object.keys(fine)) {
          for (const other of others) {
            if (field === 'about' && other === null) continue
            await expectError(t, 400, 'bad_request', () =>
              ann.call(method, path, { ...fine, [field]: other }),
            )
          }
        }
      }
    },
    manyCallsMs,
  )

  test('a body above the size limit', async () => {
    const large = new Uint8Array(jsonBodyBytesMax + 1).fill(0x20)
    for (const [method, path] of takers()) {
      await expectError(t, 413, 'too_large', () => ann.call(method, path, large, json))
    }
  })
})

describe('an operation without fields', () => {
  const takers = () => [
    '/me/claim',
    `/apps/${id}/restore`,
    `/apps/${id}/rescan`,
    `/apps/${id}/versions/1/restore`,
    `/me/hooks/${id}/deliveries/${id}/redeliver`,
  ]

  test('rejects a field by its name, and a body that is not an object', async () => {
    for (const path of takers()) {
      const response = await expectError(t, 400, 'bad_request', () =>
        ann.call('POST', path, { colour: 'secret-blue' }),
      )
      expect(response.text('error')).toBe('"colour" is not a field of this operation. Remove it.')
      await expectError(t, 400, 'bad_request', () => ann.call('POST', path, '[]', json))
      await expectError(t, 401, 'no_key', () => t.call('POST', path, { body: { colour: 1 } }))
    }
  })

  test('accepts a missing body and an empty one', async () => {
    for (const body of [undefined, {}]) {
      expect((await ann.call('POST', '/me/claim', body)).status).toBe(201)
      expect((await ann.call('POST', `/apps/${id}/rescan`, body)).status).toBe(200)
    }
  })
})

describe('a missing body', () => {
  test('is rejected where a field is required', async () => {
    const needing = takers().filter(([, path]) => !/\/(keys|remix)$/.test(path))
    for (const [method, path] of needing) {
      await expectError(t, 400, 'bad_request', () => ann.call(method, path))
    }
  })

  test('creates an agent, and a key', async () => {
    expect((await t.call('POST', '/keys')).status).toBe(201)
    expect((await ann.call('POST', '/me/keys')).status).toBe(201)
  })
})

describe('POST /apps rejects', () => {
  const bad: [what: string, body: Record<string, unknown>][] = [
    ['neither html nor prompt', { title: 'Boats' }],
    ['both', { html, prompt: 'a game' }],
    ['an unknown kind', { html, kind: 'movie' }],
    ['an unknown shelf', { html, shelf: 'top' }],
    ['an empty title', { html, title: '' }],
    ['a title of spaces', { html, title: '   ' }],
    ['a title of 81 characters', { html, title: 'a'.repeat(81) }],
    ['a title of two lines', { html, title: 'a\nb' }],
    ['a title with a right-to-left override', { html, title: 'a\u202eb' }],
    ['a title with U+0000', { html, title: 'a\u0000b' }],
    ['a title with an unpaired surrogate', { html, title: 'a\ud800b' }],
    ['a description of 501 characters', { html, description: 'a'.repeat(501) }],
    ['a description with U+0000', { html, description: '\u0000' }],
    ['a price without remix price', { html, priceRemix: 5 }],
    ['remix price without a price', { html, remix: 'price' }],
    ['a price of 0', { html, remix: 'price', priceRemix: 0 }],
    ['a price above the maximum', { html, remix: 'price', priceRemix: 100_001 }],
    ['a price with a fraction', { html, remix: 'price', priceRemix: 1.5 }],
    ['a price as text', { html, remix: 'price', priceRemix: '5' }],
    ['a boolean as text', { html, store: 'true' }],
    ['a ref that is too short', { html, ref: 'short' }],
    ['a ref with other characters', { html, ref: 'monday 123' }],
  ]
  test.each(bad)('%s', async (_, body) => {
    await expectError(t, 400, 'bad_request', () => ann.call('POST', '/apps', body))
  })

  test('an invalid Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'a b' }
    await expectError(t, 400, 'bad_request', () => ann.call('POST', '/apps', { html }, headers))
  })

  test('5 MB of html, counted in UTF-8 bytes', async () => {
    const post = (text: string) => () => ann.call('POST', '/apps', { html: text })
    await expectError(t, 413, 'too_large', post('a'.repeat(5 * 1_048_576)))
    await expectError(t, 413, 'too_large', post('é'.repeat(htmlBytesMax / 2 + 1)))
    const large = 'b'.repeat(htmlBytesMax + 1)
    await expectError(t, 413, 'too_large', () =>
      ann.call('POST', `/apps/${id}/versions`, { html: large }),
    )
  })
})

describe('changes reject', () => {
  test('an empty change', async () => {
    await expectError(t, 400, 'bad_request', () => ann.call('PATCH', `/apps/${id}`, {}))
    await expectError(t, 400, 'bad_request', () => ann.call('PATCH', '/me', {}))
  })

  test('invalid single-line texts', async () => {
    for (const about of ['a'.repeat(161), 'a\nb', 'a\u0000', '\u2028', '\ud800', 7]) {
      await expectError(t, 400, 'bad_request', () => ann.call('PATCH', '/me', { about }))
      await expectError(t, 400, 'bad_request', () => t.call('POST', '/keys', { body: { about } }))
    }
    for (const name of ['', 'a'.repeat(81), 'a\u0000b', 'a\nb', '\udfff']) {
      await expectError(t, 400, 'bad_request', () => ann.call('POST', '/me/keys', { name }))
    }
    for (const note of ['a'.repeat(201), 'a\u0000b']) {
      await expectError(t, 400, 'bad_request', () =>
        ann.call('POST', `/apps/${id}/versions`, { html, note }),
      )
    }
  })
})

describe('paths and queries reject', () => {
  test('lists with an invalid limit or cursor', async () => {
    const limits = ['0', '101', '1.5', 'x', '', '-1', '0x10', '1e1', '%205']
    const queries = limits.map((limit) => `limit=${limit}`)
    const cursors = [
      'cursor=x',
      'cursor=LTE',
      `cursor=${'a'.repeat(201)}`,
      'cursor=%00',
      'cursor=AA==',
    ]
    for (const query of [...queries, ...cursors]) {
      await expectError(t, 400, 'bad_request', () => ann.call('GET', `/apps?${query}`))
      await expectError(t, 400, 'bad_request', () =>
        ann.call('GET', `/apps/${id}/versions?${query}`),
      )
    }
  })

  test('a cursor of another list', async () => {
    await ann.publish()
    const others = [`/apps/${id}/versions`, '/me/ledger', '/jobs']
    const { body } = await ann.call('GET', '/apps?limit=1')
    const next = String(Object(body).next)
    for (const path of others) {
      await expectError(t, 400, 'bad_request', () => ann.call('GET', `${path}?cursor=${next}`))
    }
    expect((await ann.call('GET', `/apps?cursor=${next}`)).status).toBe(200)
  })

  test('versions that are not numbers', async () => {
    for (const version of ['0', '-1', '1.5', 'x', '0x1', '1e0', '1e9', '99999999999999999999']) {
      await expectError(t, 400, 'bad_request', () =>
        ann.call('POST', `/apps/${id}/versions/${version}/restore`),
      )
      await expectError(t, 400, 'bad_request', () =>
        ann.call('GET', `/apps/${id}/html?version=${version}`),
      )
    }
  })

  test('asset names that could be paths', async () => {
    const paths = ['..%2f..%2fetc%2fpasswd', '%2fetc%2fpasswd', 'a%00.png', 'a%5cb.png']
    // A folder may have them, and this app has none.
    const names = ['.hidden', 'A.png', 'é.png', 'a'.repeat(65), 'a b.png']
    for (const name of [...paths, ...names]) {
      const path = `/apps/${id}/assets/${name}`
      await expectError(t, 400, 'bad_request', () => ann.call('PUT', path, '[]'))
      const isPath = paths.includes(name)
      const [status, code] = isPath ? [400, 'bad_request'] : [404, 'not_found']
      await expectError(t, status, code, () => ann.call('GET', path))
      await expectError(t, status, code, () => ann.call('DELETE', path))
    }
  })
})

test('a path that is not UTF-8 is not_found', async () => {
  const broken = ['/apps/%ff', `/apps/${id}/assets/%c0%ae`, `/looks/${id}/1/%e0%80`]
  for (const path of broken) await expectError(t, 404, 'not_found', () => ann.call('GET', path))
  const put = () => ann.call('PUT', `/apps/${id}/assets/%ff`, '[]')
  await expectError(t, 404, 'not_found', put)
  await expectError(t, 404, 'not_found', () => ann.call('DELETE', '/me/keys/%ff'))
})

test('a page with an unstorable title gets a cleaned one', async () => {
  const titles = ['a\u0000b', '\ud800', 'a'.repeat(5_000), ' \n\t ', '\u202eevil', '<b>x</b>']
  for (const title of titles) {
    const made = await ann.call('POST', '/apps', { html: `<!doctype html><title>${title}</title>` })
    expect([title, made.status]).toEqual([title, 201])
    const kept = made.text('app.title')
    expect([...kept].length).toBeLessThanOrEqual(80)
    expect(kept.trim()).not.toBe('')
    expect(kept).not.toMatch(/[\p{Cc}\u202e\p{Cs}]/u)
  }
})
