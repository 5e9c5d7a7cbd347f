import { afterAll, expect, test } from 'bun:test'

import { shownPage } from '../../testing/fixtures/shown-page.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'

const t = await startTestServer()
afterAll(() => t.close())

const show = async (path: string) =>
  shownPage((await t.request('GET', path, { headers: { accept: 'text/html' } })).body)

test('the start of the docs leads to every page, and each to the next and the one before', async () => {
  const start = await show('/docs')
  const listed = start.hrefs.filter((href) => href.startsWith('/docs/'))
  const walked: string[] = []
  for (let path = listed[0] ?? ''; path !== '' && walked.length < 40;) {
    walked.push(path)
    const turn = (await show(path)).byRole('navigation', 'Pages of the docs').hrefs
    if (walked.length > 1) expect(turn).toContain(walked.at(-2) ?? '')
    path = turn.find((href) => !walked.includes(href)) ?? ''
  }
  expect(walked.length).toBeGreaterThan(12)
  expect(new Set(listed)).toEqual(new Set(walked))
})

test('a search finds pages and operations of both APIs, and marks the words', async () => {
  const pages = await show('/docs?q=standardwebhooks')
  expect(pages.hrefs).toContain('/docs/webhooks')
  const operations = (await show('/docs?q=remix')).hrefs
  expect(operations).toContain('/docs/remix')
  expect(operations).toContain('/docs/api/operations/remix_app')
  const models = await show('/docs?q=transcriptions')
  expect(models.hrefs).toContain('/docs/api/models/create_transcription')
  const marked = await t.request('GET', '/docs?q=%3Cscript%3E')
  expect(String(marked.body)).not.toContain('<script>alert')
  expect((await show('/docs?q=nothing-like-this')).text).toContain('No results')
})

test('an unknown page of the docs is a 404', async () => {
  expect((await t.request('GET', '/docs/odd')).status).toBe(404)
})
