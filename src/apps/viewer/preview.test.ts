import { afterEach, beforeEach, expect, test } from 'bun:test'

import { hour } from '../../kernel/time.ts'
import { becomeOperator, operatorLink } from '../../people/people.ts'
import { claimAgent, FormBrowser, signUp } from '../../testing/fixtures/form-browser.ts'
import { getPerson } from '../../testing/fixtures/people.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'
import { takeDown } from '../moderation/moderation.ts'

const page = (word: string): string => `<!doctype html><title>Boat</title><p>${word}</p>`

let t: TestServer
let ann: TestAgent
let olga: FormBrowser
let id = ''

beforeEach(async () => {
  t = await startTestServer()
  ann = await t.agent('ann')
  id = await ann.publish({ html: page('The first boat') })
  await ann.call('PUT', `/apps/${id}/assets/lamp.json`, { lit: true })
  await ann.call('POST', `/apps/${id}/versions`, { html: page('The second boat') })
  olga = await signUp(t, 'olga')
  await claimAgent(olga, ann)
})
afterEach(() => t.close())

const at = (version: number | string, below = ''): string => `/a/${id}/versions/${version}${below}`

test('the owner can preview each version in the sandbox, uncached', async () => {
  const shell = await olga.open(at(1))
  expect(shell.status).toBe(200)
  expect(String(shell.body)).toContain('Boat (version 1)')
  expect(String(shell.body)).not.toContain('The first boat')
  const csp = shell.headers.get('content-security-policy') ?? ''
  const calls = `localhost:3000/api/apps/${id}/errors localhost:3000/api/apps/${id}/own-cover`
  const sources = `localhost:3000/a/${id}/versions/1/ localhost:3000/a/libraries/ ${calls}`
  const images = `localhost:3000/a/${id}/qr.svg localhost:3000/covers/ localhost:3000/icons/ localhost:3000/static/`
  expect(csp).toContain(`connect-src ${sources}; img-src ${images}; frame-src localhost:3000/f/`)
  expect(csp).toContain("default-src 'none'; script-src 'sha256-")
  for (const [version, word] of [
    [1, 'The first boat'],
    [2, 'The second boat'],
  ] as const) {
    const data = await olga.open(at(version, '/data'))
    expect([data.status, data.body]).toEqual([200, page(word)])
    expect(data.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
    expect(data.headers.get('cache-control')).toBe('private, no-store')
  }
  const [file] = [
    ...String(JSON.stringify((await olga.open(at(1, '/files'))).body)).matchAll(/"url":"([^"]+)"/g),
  ]
  expect(file?.[1]).toStartWith(at(1, '/files/lamp.json?h='))
  const lamp = await olga.open(file?.[1] ?? '')
  expect([lamp.body, lamp.headers.get('cache-control')]).toEqual([
    { lit: true },
    'private, no-store',
  ])
  expect((await ann.call('GET', `/apps/${id}`)).body).toMatchObject({ app: { opens: 0 } })
})

test('only the owner can preview a version, until it is taken down', async () => {
  const bea = await signUp(t, 'beatrice')
  const all = ['', '/data', '/files', '/files/lamp.json'].map((below) => at(1, below))
  for (const path of all) {
    expect((await bea.open(path)).status).toBe(404)
    expect((await new FormBrowser(t).open(path)).status).toBe(404)
    expect((await t.request('GET', path, { key: ann.key })).status).toBe(404)
  }
  for (const version of [0, 3, '01', '1e0', '-1', '9999999', 'x', '%00']) {
    expect([version, (await olga.open(at(version))).status]).toEqual([version, 404])
  }
  await takeDown(t.ctx, id, 'phishing', 'operator')
  for (const path of all) expect((await olga.open(path)).status).toBe(404)
  const beatrice = await getPerson(t, 'beatrice')
  const code = (await operatorLink(t.ctx))?.split('/').at(-1)
  if (code) await becomeOperator(t.ctx, beatrice, code)
  expect((await bea.open(at(1, '/data'))).body).toBe(page('The first boat'))
})

test('the files of a preview end with the app, and by themselves within two hours', async () => {
  const list = Object((await olga.open(at(1, '/files'))).body)
  const frame = String(list.frame)
  const lamp = frame.replace('?wrapper', 'lamp.json')
  const status = async () => (await t.request('GET', lamp)).status
  expect((await t.request('GET', lamp)).body).toEqual({ lit: true })
  t.clock.advance(3 * hour)
  expect(await status()).toBe(404)
  const again = Object((await olga.open(at(1, '/files'))).body)
  expect(String(again.frame)).not.toBe(frame)
  const renewed = String(again.frame).replace('?wrapper', 'lamp.json')
  expect((await t.request('GET', renewed)).status).toBe(200)
  await takeDown(t.ctx, id, 'phishing', 'operator')
  expect((await t.request('GET', renewed)).status).toBe(404)
})

test('the log keeps neither names nor queries of requests for files', async () => {
  const shell = String((await t.request('GET', `/a/${id}`)).body)
  const [, address = ''] = /data-frame="(\/f\/[^"?]+)/.exec(shell) ?? []
  const paths = ['lamp.json?secret-query', 'secret-name.json', '%73ecret/%zz', '?wrapper&secret']
  for (const path of paths) await t.request('GET', address + path)
  await t.request('GET', '/f/secret-token/x')
  const metrics = (await t.request('GET', '/metrics')).body
  const seen = JSON.stringify([t.lines, t.ctx.state.observations, metrics])
  expect(seen).toContain('/f/:token/*')
  expect(seen).not.toContain('secret')
  expect(seen).not.toContain(address)
})

test('the shell asks for the list of files only for a page that has some', async () => {
  const alone = await (await t.agent('cy')).publish({ html: '<!doctype html><title>Alone</title>' })
  const preloads = async (app: string): Promise<string[]> => {
    const shell = String((await t.request('GET', `/a/${app}`)).body)
    return [...shell.matchAll(/<link rel=preload as=fetch crossorigin href=([^>]+)>/g)].map(
      ([, path = '']) => path,
    )
  }
  expect(await preloads(alone)).toEqual([`/a/${alone}/data`])
  expect(await preloads(id)).toEqual([`/a/${id}/data`, `/a/${id}/files`])
})
