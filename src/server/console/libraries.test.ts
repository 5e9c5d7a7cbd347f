import { afterEach, beforeEach, expect, test } from 'bun:test'

import { addLibrary } from '../../apps/libraries/added.ts'
import {
  alertText,
  type FormBrowser,
  hiddenFields,
  signInOperator,
} from '../../testing/fixtures/form-browser.ts'
import { openRegistry, packed } from '../../testing/fixtures/registry.ts'
import { shownPage } from '../../testing/fixtures/shown-page.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'

const place = '/console/libraries'
const label = 'tiny-lib@1.2.3'

let t: TestServer
let olga: FormBrowser
beforeEach(async () => {
  t = await startTestServer()
  const files = new Map([['a.js', new TextEncoder().encode('window.tiny = 1')]])
  await addLibrary(t.ctx, { name: 'tiny-lib', version: '1.2.3', license: '<b>MIT', files })
  olga = await signInOperator(t)
})
afterEach(() => t.close())

const page = (): Promise<string> => olga.read(`${place}?q=tiny`)
const remove = (library: string) => olga.fill(place, place, { library })

test('lists the libraries and removes one that no app uses', async () => {
  const listed = await olga.show(`${place}?q=tiny`)
  expect(listed.names('button')).toContain(`Remove ${label}`)
  expect(listed.text).toContain('<b>MIT')
  const three = await olga.show(`${place}?q=THREE`)
  expect(three.text).toContain('three@0.180.0')
  expect(three.names('button')).not.toContain('Remove three@0.180.0')
  expect((await remove(label)).headers.get('location')).toBe(place)
  expect(await page()).not.toContain(label)
  expect(await olga.read('/console/audit')).toMatch(/Library removed[^]*tiny-lib@1\.2\.3/)
})

test('adds a package by its name and version, and keeps what was typed after an error', async () => {
  const registry = openRegistry({ 'sea-lib': packed('sea-lib', { 'a.js': 'window.sea = 1' }) })
  const server = await startTestServer({ LIBRARY_REGISTRY: registry.url })
  const opal = await signInOperator(server)
  const add = (name: string, version: string) =>
    opal.fill(place, place, { act: 'add', name, version })
  const before = await server.snapshot()
  for (const [name, version, problem] of [
    ['sea-lib', '^1.2.3', 'exact version, such as three@0.180.0'],
    ['../sea-lib', '1.2.3', 'exact version'],
    ['..', '1.2.3', 'exact version'],
    ['sea-lib', '9.9.9', 'status 404'],
    ['three', '0.180.0', 'The registry did not send three@0.180.0'],
  ] as const) {
    const rejected = await add(name, version)
    expect([name, version, rejected.status, alertText(rejected)]).toEqual([
      name,
      version,
      400,
      expect.stringContaining(problem),
    ])
    const page = shownPage(rejected.body)
    expect([page.byLabel(/^npm package/).value, page.byLabel(/^Version/).value]).toEqual([
      name,
      version,
    ])
  }
  expect(await server.snapshot()).toEqual(before)
  const added = await add(' sea-lib ', '1.2.3')
  expect(added.headers.get('location')).toBe(`${place}?added=sea-lib%401.2.3&q=sea-lib`)
  const page = await opal.show(`${place}?added=sea-lib%401.2.3&q=sea-lib`)
  expect(page.text).toContain('sea-lib@1.2.3 can be loaded now.')
  expect(page.names('button')).toContain('Remove sea-lib@1.2.3')
  expect(page.text).not.toContain('three@')
  const odd = await opal.show(`${place}?added=${encodeURIComponent('Call 555-0100: sea-lib')}`)
  expect(odd.text).not.toContain('555-0100')
  expect(await opal.read('/console/audit')).toMatch(/Library added[^]*sea-lib@1\.2\.3/)
  registry.close()
  await server.close()
})

test('removes the fetched copy of a library of the program, whose apps count for the program', async () => {
  const lodash = 'lodash@4.17.21'
  const files = new Map([['more.js', new TextEncoder().encode('self.more = 1')]])
  const copy = { name: 'lodash', version: '4.17.21', license: 'MIT', files }
  await addLibrary(t.ctx, copy, 'fetched')
  const ann = await t.agent('ann')
  const urls = ['lodash.min.js', 'more.js'].map((file) => `https://unpkg.com/${lodash}/${file}`)
  const scripts = urls.map((url) => `<script src="${url}"></script>`).join('')
  const id = await ann.publish({ html: `<!doctype html><title>t</title>${scripts}` })
  expect((await olga.show(`${place}?q=lodash`)).names('button')).toContain(`Remove ${lodash}`)
  expect((await remove(lodash)).headers.get('location')).toBe(place)
  const listed = await olga.show(`${place}?q=lodash`)
  expect(listed.names('button')).not.toContain(`Remove ${lodash}`)
  expect(listed.text).toContain(lodash)
  const kept = await t.request('GET', `/a/${id}/files`)
  expect(JSON.stringify(kept.body)).toContain(`berth:${lodash}/more.js`)
})

test('refuses to remove a library that apps use, of the program, or that is not there', async () => {
  const ann = await t.agent('ann')
  const listed = await page()
  const html = `<!doctype html><title>t</title><script src="https://unpkg.com/${label}/a.js"></script>`
  await ann.publish({ html })
  expect(await page()).not.toContain(`Remove ${label}`)
  // The form of a page that was opened before the app was published.
  const { token = '' } = hiddenFields(listed, place)
  const send = (library: string) => olga.send(place, { token, library })
  for (const [library, message] of [
    [label, `${label} was not removed: 1 app uses it.`],
    ['three@0.180.0', 'is part of this program and cannot be removed.'],
    ['../../etc@1.0.0', 'is not in the library store.'],
    ['', 'is not in the library store.'],
  ] as const) {
    const response = await send(library)
    expect([library, response.status]).toEqual([library, 400])
    expect(alertText(response)).toContain(message)
  }
  expect(await page()).toContain(label)
  expect(await olga.read('/console/audit')).not.toContain('Library removed')
})
