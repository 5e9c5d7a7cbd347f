import { afterEach, beforeEach, expect, test } from 'bun:test'

import { sha256 } from '../../kernel/ids.ts'
import { runCommand } from '../../server/operator/control.ts'
import { expectError } from '../../testing/expect-error.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'

const html = '<!doctype html><title>Böats</title><p>hello</p>'
const phish =
  '<!doctype html><title>Sign in</title><form action="https://evil.test/x"><input type="password" name="p"></form>'

let t: TestServer
let ann: TestAgent
/** Next reply of the hook, and the requests that it received. */
let response: () => Response | Promise<Response>
let received: { method: string; type: string | null; hash: string | null; page: string }[]
let hook: ReturnType<typeof Bun.serve>

beforeEach(async () => {
  received = []
  response = () => Response.json({ verdict: 'clean' })
  hook = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { method, headers } = request
      const [type, hash] = [headers.get('content-type'), headers.get('x-content-sha256')]
      received.push({ method, type, hash, page: await request.text() })
      return response()
    },
  })
  t = await startTestServer({ SCAN_HOOK_URL: `http://127.0.0.1:${hook.port}/look` })
  ann = await t.agent('ann')
})
afterEach(async () => {
  await hook.stop(true)
  await t.close()
})

const publish = (more: object = {}) => ann.call('POST', '/apps', { html, ...more })

test('posts the page with its hash; a clean verdict changes nothing', async () => {
  const made = await publish({ store: true })
  expect([made.status, Object(made.body).scan]).toEqual([
    201,
    { verdict: 'clean', warnings: [], uses: [] },
  ])
  const type = 'text/html; charset=utf-8'
  expect(received).toEqual([{ method: 'POST', type, hash: sha256(html), page: html }])
  expect(made.text('app.listed')).toBe('on')
})

test('a block verdict rejects apps, versions and dry runs', async () => {
  const id = await ann.publish()
  response = () =>
    Response.json({ verdict: 'block', reasons: ['a known\u0000 scam', 'x'.repeat(999)] })
  const no = await expectError(t, 422, 'blocked_by_scan', () => publish())
  const [first, second, ...more] = Object(no.body).reasons
  expect(first).toMatch(/^line 1: outside\.block: .*operator.* \(a known scam\)$/)
  expect([second.length < 500, more]).toEqual([true, []])
  await expectError(t, 422, 'blocked_by_scan', () => publish({ dryRun: true }))
  await expectError(t, 422, 'blocked_by_scan', () =>
    ann.call('POST', `/apps/${id}/versions`, { html }),
  )
})

test('a warn verdict hosts the page off Explore', async () => {
  response = () => Response.json({ verdict: 'warn', reasons: ['gambling'] })
  const made = await publish({ store: true })
  expect([made.status, made.text('app.listed')]).toEqual([201, 'off'])
  expect(made.text('note')).toMatch(/outside\.warn.*gambling/)
  expect(Object(made.body).scan).toMatchObject({
    verdict: 'warn',
    warnings: [{ code: 'outside.warn', severity: 'unlist', line: 1, excerpt: 'gambling' }],
  })
  const path = `/apps/${made.text('app.id')}`
  const no = await ann.call('PATCH', path, { store: true })
  expect([no.status, no.code]).toEqual([422, 'not_listable'])
  response = () => Response.json({ verdict: 'clean' })
  expect((await ann.call('PATCH', path, { store: true })).status).toBe(200)
  response = () => Response.json({ verdict: 'block' })
  expect((await ann.call('POST', `${path}/rescan`)).text('verdict')).toBe('block')
})

const odd: [string, () => Response][] = [
  ['a 500', () => new Response('no', { status: 500 })],
  ['no JSON', () => new Response('<html>clean</html>')],
  ['another verdict', () => Response.json({ verdict: 'fine' })],
  ['no verdict', () => Response.json({})],
  ['reasons that are not a list', () => Response.json({ verdict: 'block', reasons: 'scam' })],
  ['a response of 1 MB', () => Response.json({ verdict: 'clean', more: 'x'.repeat(1_048_576) })],
  ['a redirect', () => Response.redirect('http://127.0.0.1:1/', 302)],
  ['half of a response', () => new Response('{"verdict":"cl')],
]
test.each(odd)('%s is try_again and stores nothing', async (_, reply) => {
  response = reply
  await expectError(t, 503, 'try_again', () => publish())
  expect(received).toHaveLength(1)
  expect(t.lines.map(({ event }) => event)).toContain('scan.hook')
})

test('an unreachable hook is try_again for all operations', async () => {
  const id = await ann.publish()
  await hook.stop(true)
  await expectError(t, 503, 'try_again', () => publish())
  await expectError(t, 503, 'try_again', () => ann.call('POST', `/apps/${id}/versions`, { html }))
  await expectError(t, 503, 'try_again', () => ann.call('PATCH', `/apps/${id}`, { store: true }))
  await expectError(t, 503, 'try_again', () => ann.call('POST', `/apps/${id}/rescan`))
})

test('posts icons and shows them after a clean verdict', async () => {
  const id = await ann.publish()
  const put = (body: object) => ann.call('PUT', `/apps/${id}/icon`, body)
  received = []
  const icon = await put({ make: true })
  const { bytes } = await t.request('GET', new URL(icon.text('icon')).pathname)
  expect(received).toMatchObject([{ method: 'POST', type: 'image/png', hash: sha256(bytes) }])
  const own = { image: `data:image/png;base64,${bytes.toBase64()}` }
  for (const verdict of ['warn', 'block']) {
    response = () => Response.json({ verdict })
    const no = await expectError(t, 422, 'bad_picture', () => put(own))
    expect(no.text('error')).toContain("the operator's own safety check blocked it")
  }
  await hook.stop(true)
  await expectError(t, 503, 'try_again', () => put(own))
})

test('pages that our rules block are not posted', async () => {
  await expectError(t, 422, 'blocked_by_scan', () => publish({ html: phish }))
  expect(received).toEqual([])
})

test('rejects a page that is blocked by hash during the hook call', async () => {
  response = async () => {
    await runCommand(t.ctx, { command: 'admin', words: ['block', sha256(html), 'scam'] })
    return Response.json({ verdict: 'clean' })
  }
  const no = await publish()
  expect([no.status, no.code]).toEqual([422, 'blocked_by_scan'])
})

test('a verdict does not apply to a version published meanwhile', async () => {
  const id = await ann.publish({ html, store: true })
  response = async () => {
    response = () => Response.json({ verdict: 'clean' })
    const mended = html.replace('hello', 'mended')
    expect((await ann.call('POST', `/apps/${id}/versions`, { html: mended })).status).toBe(201)
    return Response.json({ verdict: 'block', reasons: ['scam'] })
  }
  expect((await ann.call('POST', `/apps/${id}/rescan`)).body).toMatchObject({ verdict: 'clean' })
  expect((await t.request('GET', `/a/${id}`)).status).toBe(200)
})
