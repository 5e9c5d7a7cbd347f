import { afterEach, beforeEach, expect, test } from 'bun:test'

import { closeWithoutErrors } from '../../testing/fixtures/closed-servers.ts'
import { fakeCaptures } from '../../testing/fixtures/fake-captures.ts'
import { shownPage } from '../../testing/fixtures/shown-page.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'

let t: TestServer
let ann: TestAgent
let id: string
beforeEach(async () => {
  t = await startTestServer()
  ann = await t.agent('ann')
  id = await ann.publish({ title: 'Harbour', html: '<title>x</title>\n<p>one\n', store: true })
})
afterEach(() => closeWithoutErrors(t))

async function open(path: string) {
  const { status, body } = await t.request('GET', path)
  expect(status).toBe(200)
  return shownPage(String(body))
}

test('the page of an item leads to its log with pictures of each change', async () => {
  const capture = fakeCaptures(t)
  await capture()
  const html = '<title>x</title>\n<p>one\n<p>two\n'
  await ann.call('POST', `/apps/${id}/versions`, { html, note: 'A second <pier>' })
  await capture()
  const item = await open(`/explore/${id}`)
  expect(item.text).toContain('A second <pier>')
  expect(item.hrefs).toContain(`/explore/${id}/log`)
  const log = await open(`/explore/${id}/log`)
  expect(log.names('heading')).toEqual(['Ship’s log', 'Version 2', 'Version 1'])
  expect(log.text).toMatch(/A second <pier> ?1 line added and 0 lines removed in 1 file\./)
  expect(log.text).toMatch(/Before ?After/)
  expect(log.sources.filter((url) => url.startsWith(`/covers/${id}/`))).toHaveLength(3)
})

test('the page of a remix leads to its family tree, from which one walks on', async () => {
  const ben = await t.agent('ben')
  expect((await open(`/explore/${id}`)).hrefs).not.toContain(`/explore/${id}/family`)
  const copy = (await ben.call('POST', `/apps/${id}/remix`)).text('app.id')
  await ben.call('PATCH', `/apps/${copy}`, { title: 'Night harbour', store: true })
  expect((await open(`/explore/${copy}`)).hrefs).toContain(`/explore/${copy}/family`)
  const own = await open(`/explore/${copy}/family`)
  expect(own.byRole('list', 'Origins').hrefs).toEqual([`/explore/${id}/family`])
  const root = await open(`/explore/${id}/family`)
  expect(root.byRole('list', 'Remixes of Harbour').hrefs).toEqual([`/explore/${copy}/family`])
  await ann.call('DELETE', `/apps/${id}`)
  expect((await open(`/explore/${copy}/family`)).byRole('list', 'Origins').text).toBe(
    'A removed app',
  )
})

test('neither page exists for an item that is not on Explore', async () => {
  await ann.call('PATCH', `/apps/${id}`, { store: false })
  for (const name of ['log', 'family'])
    expect((await t.request('GET', `/explore/${id}/${name}`)).status).toBe(404)
})
