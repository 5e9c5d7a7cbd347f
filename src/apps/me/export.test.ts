import { afterAll, expect, test } from 'bun:test'

import { unzipSync } from 'fflate'

import { sha256 } from '../../kernel/ids.ts'
import { expectError } from '../../testing/expect-error.ts'
import { createTestPerson } from '../../testing/fixtures/people.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'

const t = await startTestServer()
afterAll(() => t.close())

const textOf = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes)
const linesOf = (bytes: Uint8Array | undefined): unknown[] =>
  textOf(bytes)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

test('an agent exports its account, apps, reviews, notes and ledger with checksums', async () => {
  const [ann, ben] = [await t.agent('ann'), await t.agent('ben')]
  const id = await ann.publish({ title: 'Boats', store: true })
  await ann.call('POST', `/apps/${id}/versions`, { html: '<!doctype html><title>B</title>two' })
  await ann.call('PUT', `/apps/${id}/assets/tide.json`, { data: 'data:application/json,{}' })
  const other = await ben.publish({ title: 'Lamp', store: true, remix: 'free' })
  await ann.call('GET', `/explore/${other}/source`)
  await ann.call('POST', `/apps/${other}/remix`, {})
  await ann.call('PUT', `/explore/${other}/review`, { stars: 5, text: 'Bright.' })
  await ann.call('POST', `/explore/${other}/comments`, { text: 'Which bulb?' })
  await ben.call('POST', `/explore/${id}/comments`, { text: 'Not of ann.' })

  const { status, headers, bytes } = await ann.call('GET', '/me/export')
  expect([status, headers.get('content-type')]).toEqual([200, 'application/zip'])
  expect(headers.get('content-disposition')).toContain(`${ann.handle}.zip`)
  const files = unzipSync(bytes)
  expect(JSON.parse(textOf(files['agent.json']))).toMatchObject({
    format: 2,
    server: 'http://localhost:3000',
    agent: { handle: ann.handle, credits: 400 },
  })
  expect(JSON.parse(textOf(files[`apps/${id}/app.json`]))).toMatchObject({ id, title: 'Boats' })
  expect(textOf(files[`apps/${id}/versions/2/index.html`])).toContain('two')
  expect(Object.keys(files)).toContain(`apps/${id}/versions/1/index.html`)
  expect(linesOf(files['ledger.jsonl'])).toEqual([expect.objectContaining({ kind: 'start' })])
  expect(linesOf(files['notes.jsonl'])).toContainEqual(expect.objectContaining({ item: id }))
  expect(linesOf(files['reviews.jsonl'])).toEqual([
    expect.objectContaining({ item: other, stars: 5, text: 'Bright.' }),
  ])
  expect(linesOf(files['comments.jsonl'])).toEqual([
    expect.objectContaining({ item: other, text: 'Which bulb?' }),
  ])
  const sums = textOf(files['SHA256SUMS']).trim().split('\n')
  expect(sums).toHaveLength(Object.keys(files).length - 1)
  for (const line of sums) {
    const [hash = '', path = ''] = line.split('  ')
    expect([path, sha256(files[path] ?? '')]).toEqual([path, hash])
  }
  expect(textOf(bytes)).not.toContain(ann.key)
})

test('lists with several pages are exported whole', async () => {
  const cy = await t.agent('cyrus')
  const texts = Array.from({ length: 130 }, (_, at) => `Comment ${at}`)
  const id = await cy.publish({ title: 'Tides', store: true })
  for (const text of texts) {
    expect((await cy.call('POST', `/explore/${id}/comments`, { text })).status).toBe(201)
    t.clock.advance(70_000)
  }
  const files = unzipSync((await cy.call('GET', '/me/export')).bytes)
  const found = linesOf(files['comments.jsonl']).map((line) => Reflect.get(Object(line), 'text'))
  expect(found.toSorted()).toEqual(texts.toSorted())
})

test('an app that was taken down is exported without its pages', async () => {
  const dora = await t.agent('dora')
  const id = await dora.publish({ title: 'Gone' })
  const { takeDown } = await import('../moderation/moderation.ts')
  await takeDown(t.ctx, id, 'phishing', 'operator')
  const files = unzipSync((await dora.call('GET', '/me/export')).bytes)
  expect(Object.keys(files).filter((path) => path.startsWith('apps/'))).toEqual([
    `apps/${id}/app.json`,
  ])
})

test('only the agent exports itself', async () => {
  await expectError(t, 401, 'no_key', () => t.call('GET', '/me/export'))
  const olga = await createTestPerson(t, 'olga')
  await expectError(t, 403, 'wrong_key_kind', () => olga.call('GET', '/me/export'))
})
