/** Names of every object in what the fuzz does not reach: pages of the site, and hosted content. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'

import { becomeOperator, findByName, operatorLink } from '../people/people.ts'
import { formType, origin } from './fixtures/form-browser.ts'
import { listSiteRoutes } from './fixtures/site-routes.ts'
import { startTestServer } from './fixtures/test-server.ts'
import { ownedNames } from './openapi/hostile.ts'

setDefaultTimeout(60_000)

const person = { 'remote-user': 'olga' }
const server = await startTestServer({
  DEMO_MODELS: 'on',
  PERSON_HEADER: 'remote-user',
  TRUSTED_PROXIES: '203.0.113.9',
})
const ann = await server.agent('ann')
afterAll(async () => {
  expect(server.lines.filter(({ level }) => level === 'error')).toEqual([])
  await server.close()
})

const queries =
  'sort kind shelf q cursor done next file shown page model changed state version with usd url unread to ' +
  'sent reviews reply removed range price link item format days comments build amount act mode tag'

test.each(ownedNames)('no page fails at %s in its path and query', async (name) => {
  await server.request('GET', '/new', { headers: person })
  const olga = await findByName(server.ctx, 'olga')
  const link = await operatorLink(server.ctx)
  if (olga && link) await becomeOperator(server.ctx, olga, link.split('/').at(-1) ?? '')
  expect((await server.request('GET', '/console', { headers: person })).status).toBe(200)
  const id = await ann.publish({ store: true })
  const query = new URLSearchParams(queries.split(' ').map((one): [string, string] => [one, name]))
  const failed: string[] = []
  for (const route of listSiteRoutes(server)) {
    for (const own of [name, id]) {
      // The id exists, and the rest of the path has the name.
      let isFirst = true
      const path = route.replaceAll(/:(\w+)|\*/g, () => {
        const value = isFirst ? own : name
        isFirst = false
        return value
      })
      const { status } = await server.request('GET', `${path}?${query}`, { headers: person })
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
  const page = String((await server.request('GET', '/account', { headers: person })).body)
  const token = /name="token" value="([^"]+)"/.exec(page)?.[1] ?? ''
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
    const { status } = await server.request('POST', path, { body, headers })
    expect([path, status < 500]).toEqual([path, true])
  }
})
