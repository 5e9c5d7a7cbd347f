import { expect, test } from 'bun:test'

import { sha256 } from '../kernel/ids.ts'
import { recordOf } from '../kernel/schema.ts'
import { startTestServer } from '../testing/fixtures/test-server.ts'

const cdn = 'https://cdnjs.cloudflare.com/ajax/libs'
const page = (head: string): string => `<!doctype html><title>t</title>\n${head}\n<p>t</p>`
const lodash = `<script src="${cdn}/lodash.js/4.17.21/lodash.min.js"></script>`

test('a library of a CDN is pinned, recorded, served and shared by all apps', async () => {
  const { request, agent, close } = await startTestServer()
  const ann = await agent('ann')
  const made = await ann.call('POST', '/apps', { html: page(lodash) })
  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({ scan: { verdict: 'clean', warnings: [] } })
  const id = String(recordOf(recordOf(made.body)['app'])['id'])

  const data = await request('GET', `/a/${id}/data`)
  expect(data.headers.get('page-list')).toBe('1')
  const files = await request('GET', `/a/${id}/files`)
  const name = 'berth:lodash@4.17.21/lodash.min.js'
  expect(files.body).toMatchObject({
    libraries: {
      files: [{ name, type: 'text/javascript' }],
      urls: [[`${cdn}/lodash.js/4.17.21/lodash.min.js`, name]],
      imports: [],
    },
  })
  const [, url = ''] = /"(\/a\/libraries\/[0-9a-f]{64})"\}/.exec(JSON.stringify(files.body)) ?? []
  const file = await request('GET', url)
  expect(file.status).toBe(200)
  expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(file.headers.get('cross-origin-resource-policy')).toBe('same-origin')
  expect(url).toEndWith(sha256(String(file.body)))

  const bob = await agent('bob')
  const other = await bob.publish({ html: page(`<p>x</p>${lodash}`) })
  expect(JSON.stringify((await request('GET', `/a/${other}/files`)).body)).toContain(url)
  await close()
})

test('only library files are reachable by their hash', async () => {
  const { request, agent, close } = await startTestServer()
  const ann = await agent('ann')
  const html = page('secret')
  await ann.publish({ html })
  for (const path of [sha256(html), 'x'.repeat(64), '..%2f..%2fsecret', 'loader.js']) {
    expect((await request('GET', `/a/libraries/${path}`)).status).toBe(404)
  }
  await close()
})

test('the note names versions that were chosen, and warnings what is missing', async () => {
  const { agent, close } = await startTestServer()
  const ann = await agent('ann')
  const html = page(
    [
      '<script src="https://unpkg.com/react@18/umd/react.development.js"></script>',
      '<script src="https://cdn.jsdelivr.net/npm/chart.js@4.0.1/dist/chart.umd.js"></script>',
      '<script src="https://unpkg.com/not-a-library@1.2.3/x.js"></script>',
      `<script src="${cdn}/lodash.js/4.17.21/lodash.js" integrity="sha256-AAAA"></script>`,
    ].join('\n'),
  )
  const { body } = await ann.call('POST', '/apps', { html })
  expect(recordOf(body)['note']).toContain('react@18 is pinned to 18.3.1.')
  expect(recordOf(body)['note']).toMatch(/chart\.js@4\.0\.1 is not here: chart\.js@4\S+ is used/)
  expect(body).toMatchObject({
    scan: {
      verdict: 'warn',
      warnings: [
        { code: 'net.external', line: 4, help: expect.stringContaining('not-a-library@1.2.3') },
        { code: 'net.external', line: 5, help: expect.stringContaining('integrity') },
      ],
    },
  })
  await close()
})

test('a dry run stores nothing and names what is missing', async () => {
  const { agent, ctx, close } = await startTestServer()
  const ann = await agent('ann')
  const html = page(lodash + '<script src="https://esm.sh/none@1"></script>')
  const before = await ctx.storage.usage()
  const { body } = await ann.call('POST', '/apps', { html, dryRun: true })
  expect(body).toMatchObject({ scan: { warnings: [{ line: 2 }] }, price: 0 })
  expect(await ctx.storage.usage()).toMatchObject({ files: before.files })
  await close()
})

test('a restored version and a remix keep their libraries', async () => {
  const { request, agent, close } = await startTestServer()
  const ann = await agent('ann')
  const id = await ann.publish({ html: page(lodash), store: true })
  const first = (await request('GET', `/a/${id}/files`)).body
  await ann.call('POST', `/apps/${id}/versions`, { html: page('') })
  await ann.call('POST', `/apps/${id}/versions/1/restore`)
  expect((await request('GET', `/a/${id}/files`)).body).toEqual(first)
  const copy = await ann.call('POST', `/apps/${id}/remix`, {})
  const copied = String(recordOf(recordOf(copy.body)['app'])['id'])
  expect((await request('GET', `/a/${copied}/files`)).body).toEqual(first)
  await close()
})
