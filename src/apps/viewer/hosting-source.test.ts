import { expect, test } from 'bun:test'

import { shownPage } from '../../testing/fixtures/shown-page.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'

test('a link shows every change to the next request', async () => {
  const h = await startTestServer()
  const ann = await h.agent('ann')
  const page = (word: string): string => `<!doctype html><title>Boat</title><p>${word}</p>`
  const id = await ann.publish({ html: page('first') })
  // PostgreSQL has other writers, who tell nothing: there a moment may pass.
  const moment = h.ctx.db.commits() === undefined ? 500 : 1
  const seen = async () => {
    h.clock.advance(moment)
    const shell = await h.request('GET', `/a/${id}`)
    const data = await h.request('GET', `/a/${id}/data`)
    return [shell.status, data.status, data.status === 200 ? data.body : undefined]
  }
  expect(await seen()).toEqual([200, 200, page('first')])
  await ann.call('POST', `/apps/${id}/versions`, { html: page('second') })
  expect(await seen()).toEqual([200, 200, page('second')])
  await ann.call('DELETE', `/apps/${id}`)
  expect(await seen()).toEqual([410, 410, undefined])
  expect((await ann.call('POST', `/apps/${id}/restore`)).status).toBe(200)
  expect(await seen()).toEqual([200, 200, page('second')])
  h.clock.advance(moment)
  await ann.call('PATCH', `/apps/${id}`, { title: 'Ferry' })
  h.clock.advance(moment)
  const unlisted = String((await h.request('GET', `/a/${id}`)).body)
  expect(unlisted).toContain('Ferry')
  shownPage(unlisted).byText('@ann')
  await ann.call('PATCH', `/apps/${id}`, { store: true })
  h.clock.advance(moment)
  const listed = String((await h.request('GET', `/a/${id}`)).body)
  const [, maker = ''] = /href="(\/explore\/@[^"]+)"/.exec(listed) ?? []
  expect((await h.request('GET', maker)).status).toBe(200)
  await h.close()
})
