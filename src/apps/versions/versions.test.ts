import { expect, test } from 'bun:test'

import { unzipSync } from 'fflate'

import { versionsPerAppMax } from '../../kernel/limits.ts'
import { hour } from '../../kernel/time.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { pauseMethod } from '../../testing/pause-method.ts'
import { apps } from '../tables.ts'

const page = (text: string): string => `<!doctype html><title>${text}</title><p>${text}</p>`
const image = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

test('a new page without its folder keeps what the scripts of the folder use', async () => {
  const t = await startTestServer()
  const ann = await t.agent('ann')
  const files = [
    { path: 'index.html', text: '<!doctype html><title>Oracle</title><script src=a.js></script>' },
    {
      path: 'a.js',
      text: "service.ai.chat('Hello'); fetch('https://api.anthropic.com/v1/messages')",
    },
  ]
  const first = await ann.call('POST', '/apps', { files, store: true })
  expect(first.body).toMatchObject({ scan: { uses: ['ai'] } })
  const id = first.text('app.id')
  const html = '<!doctype html><title>Oracle</title><p>New<script src=a.js></script>'
  const dry = await ann.call('POST', `/apps/${id}/versions`, { html, dryRun: true })
  expect(dry.body).toMatchObject({ scan: { uses: ['ai'] } })
  const second = await ann.call('POST', `/apps/${id}/versions`, { html })
  expect(second.body).toMatchObject({ scan: { uses: ['ai'] } })
  expect((await t.call('GET', `/explore/${id}`)).body).toMatchObject({ uses: ['ai'] })
  const list = JSON.stringify((await t.request('GET', `/a/${id}/files`)).body)
  expect(list).toContain('bridge.model-apis')
  await t.close()
})

test('a new version keeps the link and copies the files', async () => {
  const { request, agent, close } = await startTestServer()
  const ann = await agent('ann')
  const id = await ann.publish({ html: page('one') })
  await ann.call('PUT', `/apps/${id}/assets/dot.png`, image)

  const made = await ann.call('POST', `/apps/${id}/versions`, { html: page('two'), note: 'better' })
  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({ app: { id, version: 2 }, scan: { verdict: 'clean' } })
  expect((await ann.call('GET', `/apps/${id}/assets`)).body).toMatchObject({
    version: 2,
    assets: [{ name: 'dot.png' }],
  })
  expect((await request('GET', `/a/${id}/data`)).body).toContain('<p>two</p>')

  const { body } = await ann.call('GET', `/apps/${id}/versions`)
  expect(body).toMatchObject({
    versions: [
      { version: 2, via: 'html', note: 'better' },
      { version: 1, via: 'html' },
    ],
    next: null,
  })
  await close()
})

test('restores an older version with its files', async () => {
  const { agent, close } = await startTestServer()
  const ann = await agent('ann')
  const id = await ann.publish({ html: page('one') })
  await ann.call('PUT', `/apps/${id}/assets/dot.png`, image)
  await ann.call('POST', `/apps/${id}/versions`, { html: page('two') })
  await ann.call('DELETE', `/apps/${id}/assets/dot.png`)

  const restored = await ann.call('POST', `/apps/${id}/versions/1/restore`)
  expect(restored.status).toBe(201)
  expect(restored.body).toMatchObject({ app: { version: 3 } })
  expect((await ann.call('GET', `/apps/${id}/assets`)).body).toMatchObject({
    assets: [{ name: 'dot.png' }],
  })
  expect((await ann.call('GET', `/apps/${id}/html`)).body).toContain('one')
  const second = await ann.call('GET', `/apps/${id}/html?version=2`)
  expect(second.body).toContain('two')
  expect(second.headers.get('content-disposition')).toStartWith('attachment')
  expect((await ann.call('GET', `/apps/${id}/html?version=9`)).code).toBe('not_found')
  expect((await ann.call('POST', `/apps/${id}/versions/9/restore`)).code).toBe('not_found')
  await close()
})

test('the versions of another app are not those of an app', async () => {
  const { agent, close } = await startTestServer()
  const ann = await agent('ann')
  const id = await ann.publish({ html: page('one') })
  const other = await ann.publish({ html: page('other') })
  await ann.call('POST', `/apps/${other}/versions`, { html: page('secret') })
  expect((await ann.call('GET', `/apps/${id}/html?version=2`)).code).toBe('not_found')
  expect((await ann.call('POST', `/apps/${id}/versions/2/restore`)).code).toBe('not_found')
  await close()
})

test('an export has every version and asset', async () => {
  const { agent, close } = await startTestServer()
  const ann = await agent('ann')
  const id = await ann.publish({ html: page('one') })
  await ann.call('PUT', `/apps/${id}/assets/dot.png`, image)
  await ann.call('POST', `/apps/${id}/versions`, { html: page('two') })
  const zip = unzipSync((await ann.call('GET', `/apps/${id}/export`)).bytes)
  expect(Object.keys(zip).sort()).toEqual([
    'versions/1/assets/dot.png',
    'versions/1/index.html',
    'versions/1/version.json',
    'versions/2/assets/dot.png',
    'versions/2/index.html',
    'versions/2/version.json',
  ])
  expect(new TextDecoder().decode(zip['versions/1/index.html'])).toBe(page('one'))
  await close()
})

test('lists continue at a cursor and reject foreign cursors', async () => {
  const { agent, clock, close } = await startTestServer()
  const ann = await agent('ann')
  const id = await ann.publish()
  for (let version = 2; version <= 5; version += 1) {
    clock.advance(1)
    await ann.call('POST', `/apps/${id}/versions`, { html: page(`v${version}`) })
  }
  const first = await ann.call('GET', `/apps/${id}/versions?limit=3`)
  expect(first.body).toMatchObject({ versions: [{ version: 5 }, { version: 4 }, { version: 3 }] })
  const rest = await ann.call('GET', `/apps/${id}/versions?limit=3&cursor=${first.text('next')}`)
  expect(rest.body).toMatchObject({ versions: [{ version: 2 }, { version: 1 }], next: null })

  for (const query of ['cursor=zzz', 'limit=0', 'limit=101', 'limit=x', 'cursor=']) {
    expect((await ann.call('GET', `/apps/${id}/versions?${query}`)).code).toBe('bad_request')
    expect((await ann.call('GET', `/apps?${query}`)).code).toBe('bad_request')
  }
  await close()
})

test('a rejected version stores nothing', async () => {
  const { agent, snapshot, close } = await startTestServer()
  const [ann, ben] = [await agent('ann'), await agent('ben')]
  const id = await ann.publish()
  const before = await snapshot()
  const send = (body: unknown) => ann.call('POST', `/apps/${id}/versions`, body)
  const phish = `<form action="https://x.example"><input type=password></form>`
  const rejected: [unknown, number, string][] = [
    [{}, 400, 'bad_request'],
    [{ html: page('a'), prompt: 'b' }, 400, 'bad_request'],
    [{ html: page('a'), note: 'two\nlines' }, 400, 'bad_request'],
    [{ html: page('a'), other: 1 }, 400, 'bad_request'],
    [{ html: phish }, 422, 'blocked_by_scan'],
    [{ html: 'x'.repeat(5 * 1_048_576) }, 413, 'too_large'],
  ]
  for (const [body, status, code] of rejected) {
    expect(await send(body)).toMatchObject({ status, code })
  }
  expect((await ben.call('POST', `/apps/${id}/versions`, { html: page('b') })).code).toBe(
    'not_found',
  )
  expect((await ben.call('GET', `/apps/${id}/export`)).code).toBe('not_found')
  const dry = await send({ html: page('dry'), dryRun: true })
  expect(dry).toMatchObject({ status: 200, body: { price: 0 } })
  expect(await snapshot()).toEqual(before)
  await close()
})

test('the same ref publishes one version, also concurrently', async () => {
  const { ctx, agent, close } = await startTestServer()
  const ann = await agent('ann')
  const id = await ann.publish()
  const body = { html: page('two'), ref: 'version-two' }
  const { begun, go } = pauseMethod(ctx.storage, 'put')
  const first = ann.call('POST', `/apps/${id}/versions`, body)
  await begun
  expect((await ann.call('POST', `/apps/${id}/versions`, body)).code).toBe('busy')
  go()
  expect((await first).status).toBe(201)
  const again = await ann.call('POST', `/apps/${id}/versions`, body)
  expect(again).toMatchObject({ status: 201, body: { app: { version: 2 } } })
  const other = { ...body, html: page('three') }
  expect((await ann.call('POST', `/apps/${id}/versions`, other)).code).toBe('ref_conflict')
  expect((await ann.call('GET', `/apps/${id}`)).body).toMatchObject({ app: { version: 2 } })
  await ann.call('DELETE', `/apps/${id}`)
  const late = await ann.call('POST', `/apps/${id}/versions`, body)
  expect([late.status, late.body]).toEqual([201, again.body])
  await close()
})

test('deleted apps can be restored within 30 days', async () => {
  const { request, agent, clock, close } = await startTestServer()
  const [ann, ben] = [await agent('ann'), await agent('ben')]
  const id = await ann.publish()
  await ann.call('DELETE', `/apps/${id}`)
  clock.advance(1_000)
  expect((await ann.call('GET', `/apps/${id}`)).code).toBe('not_found')
  expect((await request('GET', `/a/${id}`)).status).toBe(410)
  expect((await ben.call('POST', `/apps/${id}/restore`)).code).toBe('not_found')
  expect((await ann.call('POST', `/apps/${id}/restore`)).status).toBe(200)
  clock.advance(1_000)
  expect((await request('GET', `/a/${id}`)).status).toBe(200)
  await ann.call('DELETE', `/apps/${id}`)
  clock.advance(31 * 24 * hour)
  expect((await ann.call('POST', `/apps/${id}/restore`)).code).toBe('not_found')
  await close()
})

test('concurrent publishes respect the version limit', async () => {
  const { ctx, agent, close } = await startTestServer()
  const ann = await agent('ann')
  const id = await ann.publish({ html: page('one') })
  await ctx.db.tx((db) => db.update(apps).set({ version: versionsPerAppMax - 1 }))
  const publish = (text: string) => ann.call('POST', `/apps/${id}/versions`, { html: page(text) })
  const both = await Promise.all(['two', 'three'].map(publish))
  expect(both.map(({ status }) => status).sort()).toEqual([201, 400])
  await close()
})
