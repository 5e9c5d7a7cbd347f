/** Names of every object in what the fuzz does not reach: pages of the site, and hosted content. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'

import { becomeOperator, operatorLink } from '../people/people.ts'
import { formType, hiddenFields, origin } from './fixtures/form-browser.ts'
import { getPerson } from './fixtures/people.ts'
import { listSiteRoutes } from './fixtures/site-routes.ts'
import { startTestServer } from './fixtures/test-server.ts'
import { ownedNames } from './openapi/hostile.ts'

setDefaultTimeout(60_000)

const person = { 'remote-user': 'olga' }
const t = await startTestServer({
  DEMO_MODELS: 'on',
  PERSON_HEADER: 'remote-user',
  TRUSTED_PROXIES: '203.0.113.9',
})
const ann = await t.agent('ann')
afterAll(async () => {
  expect(t.lines.filter(({ level }) => level === 'error')).toEqual([])
  await t.close()
})

const queries =
  'sort kind shelf q cursor done next file shown page model changed state version with usd url unread to ' +
  'sent reviews reply removed range price link item format days comments build amount act mode tag'

test.each(ownedNames)('no page fails at %s in its path and query', async (name) => {
  await t.request('GET', '/new', { headers: person })
  const olga = await getPerson(t, 'olga')
  const link = await operatorLink(t.ctx)
  if (link) await becomeOperator(t.ctx, olga, link.split('/').at(-1) ?? '')
  expect((await t.request('GET', '/console', { headers: person })).status).toBe(200)
  const id = await ann.publish({ store: true })
  const query = new URLSearchParams(queries.split(' ').map((one): [string, string] => [one, name]))
  const failed: string[] = []
  for (const route of listSiteRoutes(t)) {
    for (const own of [name, id]) {
      // The id exists, and the rest of the path has the name.
      let isFirst = true
      const path = route.replaceAll(/:(\w+)|\*/g, () => {
        const value = isFirst ? own : name
        isFirst = false
        return value
      })
      const { status } = await t.request('GET', `${path}?${query}`, { headers: person })
      // oEmbed has 501 for an unknown format.
      if (status >= 500 && status !== 501) failed.push(`${status} ${path}`)
    }
  }
  expect(failed).toEqual([])
})

test.each([...ownedNames, 'valueof'])('no page or file fails that has %s in it', async (name) => {
  const html = `<!doctype html><title>${name}</title><${name} ${name}="x" src="y"></${name}>
    <script src="https://unpkg.com/${name}@1.0.0/${name}.js"></script><link rel="${name}">
    <script>const {${name}:a}={};document.${name}?.(a)</script><meta name="${name}" content="x">`
  const page = await ann.call('POST', '/apps', { html })
  expect([201, 400, 422]).toContain(page.status)
  const skill = `---\nname: a-skill\ndescription: Do it.\n${name}: x\n---\n\nRead [it](${name}.${name}).\n`
  const files = [{ path: `${name}/a.${name}`, text: 'x' }]
  const pack = await ann.call('POST', '/skills', { skill, files })
  expect([200, 201, 400, 409, 422]).toContain(pack.status)
})

test.each(ownedNames)('no form fails at the action %s', async (name) => {
  const { body: account } = await t.request('GET', '/account', { headers: person })
  const { token = '' } = hiddenFields(String(account), '/account/keys')
  expect(token).not.toBe('')
  const body = new URLSearchParams({ token, act: name, text: name, [name]: name }).toString()
  const headers = { ...person, ...formType, origin }
  const id = await ann.publish()
  const below = [
    '/account',
    `/studio/${id}`,
    '/agents/ann',
    '/console',
    '/console/settings',
    '/new',
  ]
  for (const path of below.map((one) => `${one}/${name}`)) {
    const { status } = await t.request('POST', path, { body, headers })
    expect([path, status < 500]).toEqual([path, true])
  }
})
