import { expect, test } from 'bun:test'

import { zipSync } from 'fflate'

import { FormBrowser, hiddenFields, origin, signUp } from '../../testing/fixtures/form-browser.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { packPage } from './page-folder.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const pack = (files: Record<string, string>) =>
  packPage(Object.entries(files).map(([path, text]) => ({ path, bytes: bytesOf(text) })))

test('inlines scripts and styles and names the assets', () => {
  const packed = pack({
    'game/index.html':
      '<!doctype html><head><link rel="icon" href="x.ico"><link href="css/a.css" rel=stylesheet></head>' +
      '<img src="img/Ship 1.png"><img src="logo.svg"><script defer src="./js/a.js"></script>',
    'game/css/a.css': 'a{background:url(../img/Ship%201.png)} b{background:url("../img/b.png")}',
    'game/js/a.js': 'document.write("</script><!--")',
    'game/img/Ship 1.png': 'one',
    'game/img/b.png': 'two',
    'game/logo.svg': '<svg/>',
    '__MACOSX/game/._index.html': 'x',
  })
  if ('problem' in packed) throw new Error(packed.problem)
  expect(packed.assets.map(({ path }) => path)).toEqual(['img-ship-1.png', 'img-b.png'])
  expect(packed.html).toContain('data-file-src="img-ship-1.png"')
  expect(packed.html).toContain(
    'a{background:var(--file-img-ship-1-png)} b{background:var(--file-img-b-png)}',
  )
  expect(packed.html).toContain('src="data:image/svg+xml;base64,PHN2Zy8+"')
  expect(packed.html).toContain('document.write("<\\/script><\\!--")')
  expect(packed.html).not.toContain('x.ico')
  expect(packed.html.indexOf('service.assets')).toBeLessThan(packed.html.indexOf('<style>'))
})

test('keeps a page without files as it is', () => {
  const html = '<!doctype html><img src="https://a.test/b.png"><script src="missing.js"></script>'
  expect(pack({ 'a.html': html })).toEqual({ html, assets: [] })
})

test('says why a folder cannot be published', () => {
  for (const [files, problem] of [
    [{ 'a.txt': '' }, 'There is no HTML file.'],
    [{ 'a.html': '', 'b.html': '' }, 'There are several HTML files.'],
    [{ 'a.html': '', 'a b.png': '1', 'a-b.png': '2' }, 'Two files would have the name a-b.png.'],
    [
      { 'a.html': '<script type=module src=a.js></script>', 'a.js': "import './b.js'" },
      'a.js imports other files.',
    ],
  ] as const) {
    expect(pack(files)).toEqual({ problem: expect.stringContaining(problem) })
  }
})

/** Sends the form to publish a page with a file. */
async function upload(h: TestServer, browser: FormBrowser, file: File) {
  const body = new FormData()
  const fields = hiddenFields(String((await browser.open('/new')).body), '/new/page')
  for (const [name, value] of Object.entries({ ...fields, html: '' })) body.set(name, value)
  body.set('file', file)
  const multipart = new Response(body)
  const cookie = ['berth', 'berth_form'].map((name) => `${name}=${browser.cookie(name)}`).join('; ')
  const headers = {
    'content-type': multipart.headers.get('content-type') ?? '',
    origin,
    cookie,
  }
  return h.request('POST', '/new/page', { body: await multipart.bytes(), headers })
}

test('publishes a zip with its assets, and nothing of a bad one', async () => {
  const h = await startTestServer()
  const bea = await signUp(h, 'bea')
  const zip = (files: Record<string, string>) =>
    new File(
      [
        new Uint8Array(
          zipSync(
            Object.fromEntries(Object.entries(files).map(([path, text]) => [path, bytesOf(text)])),
          ),
        ),
      ],
      'page.zip',
    )
  const before = await h.snapshot()
  for (const [file, problem] of [
    [zip({ 'index.html': '<h1>A', 'a.png': 'no image' }), 'a.png: '],
    [zip({ 'readme.txt': 'A' }), 'There is no HTML file.'],
    [new File(['PK nothing'], 'page.zip'), 'The zip was not accepted'],
  ] as const) {
    const failed = await upload(h, bea, file)
    expect([failed.status, String(failed.body)]).toEqual([400, expect.stringContaining(problem)])
  }
  const guest = await upload(h, new FormBrowser(h), zip({ 'index.html': '<h1>A', 'a.json': '1' }))
  expect(guest.status).not.toBe(303)
  expect(await h.snapshot()).toEqual(before)
  const good = zip({ 'game/index.html': '<title>Reef</title><h1>Reef', 'game/a.json': '{"a":1}' })
  const done = await upload(h, bea, good)
  const id = (done.headers.get('location') ?? '').split('/')[2] ?? ''
  expect(done.status).toBe(303)
  expect(String((await bea.open(`/studio/${id}/assets`)).body)).toContain('a.json')
  const archive = await bea.open(`/studio/${id}/export`)
  expect(archive.headers.get('content-disposition')).toBe(`attachment; filename="${id}.zip"`)
  const carl = await signUp(h, 'carl')
  expect((await carl.open(`/studio/${id}/export`)).status).toBe(404)
  await h.close()
})
