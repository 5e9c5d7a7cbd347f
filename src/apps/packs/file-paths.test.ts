import { afterAll, expect, test } from 'bun:test'

import { expectError } from '../../testing/expect-error.ts'
import { skillText } from '../../testing/fixtures/folders.ts'
import { send } from '../../testing/fixtures/mcp-server.ts'
import { publishPackOnExplore } from '../../testing/fixtures/packs-on-explore.ts'
import { shownPage } from '../../testing/fixtures/shown-page.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'

const t = await startTestServer()
const ann = await t.agent('ann')
afterAll(() => t.close())

/** Names with characters that a URL has to encode, or that a second decoding would change. */
const names = [
  'a b.md',
  '100%.md',
  '100%25.md',
  "a+b&c;=@!$(x)',~.md",
  'references/deep folder/50%41.md',
]
const image = { path: 'assets/a b+100%.png', base64: (await pixel()).toBase64() }
const links = names.map((name) => `[${name.length}](<${encoded(name)}>)`).join('\n')
const files = [
  { path: 'SKILL.md', text: `${skillText()}\n${links}\n\n![p](<assets/a b+100%25.png>)\n` },
  ...names.map((path) => ({ path, text: `The text of ${path}` })),
  image,
]
const skill = await publishPackOnExplore(ann, { skill: undefined, files })

function encoded(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}

/** Returns a PNG of one pixel. */
async function pixel(): Promise<Uint8Array> {
  const base64 =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
  return Uint8Array.fromBase64(base64)
}

const read = async (uri: string): Promise<unknown> =>
  (await send(t, 'resources/read', { uri })).body

test.each(names)('the file %j is read in every way', async (name) => {
  const text = `The text of ${name}`
  const path = `/skills/${skill}/files/${encoded(name)}`
  for (const response of [await t.call('GET', path), await t.request('GET', path)]) {
    expect([response.status, response.body]).toEqual([200, text])
  }
  expect((await t.request('HEAD', path)).status).toBe(200)
  const index = `/.well-known/agent-skills/release-notes/${encoded(name)}`
  expect((await t.request('GET', index)).body).toBe(text)
  const uri = `skill://${skill}/${encoded(name)}`
  expect(await read(uri)).toMatchObject({ result: { contents: [{ uri, text }] } })
})

test('the page links each file by its name, and its images load', async () => {
  const headers = { accept: 'text/html' }
  const page = shownPage((await t.request('GET', `/explore/${skill}`, { headers })).body)
  for (const name of names) {
    const own = page.hrefs.filter(
      (href) => new URL(href, 'http://localhost').searchParams.get('file') === name,
    )
    // One link is in the tree of files, the other in the text.
    expect([name, own.length]).toEqual([name, 2])
    const shown = await t.request('GET', own[0] ?? '', { headers })
    expect(shownPage(shown.body).text).toContain(`The text of ${name}`)
  }
  const src = page.sources.find((path) => path.includes('files')) ?? ''
  const shownImage = await t.request('GET', src)
  expect(shownImage.headers.get('content-type')).toBe('image/png')
})

test('the prompt lists addresses that MCP clients can read', async () => {
  const { body } = await send(t, 'prompts/get', { name: 'ann.release-notes', arguments: {} })
  const text = JSON.stringify(body)
  for (const name of names) {
    const uri = `skill://packs/${skill}/release-notes/${encoded(name)}`
    expect(text).toContain(uri)
  }
})

const absent = [
  '%zz',
  '%ff',
  '%',
  '%00',
  'SKILL.md%00',
  'a%2520b.md',
  '100%252525.md',
  '..%2fSKILL.md',
  '..%2f..%2f..%2fetc%2fpasswd',
  '..%5cSKILL.md',
  '%5c..%5cSKILL.md',
  '%2e%2e/%2e%2e/%2e%2e/etc/passwd',
  '%2e%2e%2fSKILL.md',
  '%c0%ae%c0%ae/SKILL.md',
  '/SKILL.md',
  '%2fSKILL.md',
  './/SKILL.md',
  '%C3%BC.md',
  'a%2Bb%23c%3F.md',
]

test.each(absent)('%j reaches no file', async (path) => {
  for (const base of [`/api/skills/${skill}/files/`, `/skills/${skill}/files/`]) {
    const { status } = await t.request('GET', base + path, { key: ann.key })
    expect([base, status]).toEqual([base, 404])
  }
  expect(await read(`skill://${skill}/${path}`)).toMatchObject({ error: { code: -32_602 } })
})

test('names that file systems or installers cannot hold are not published', async () => {
  for (const path of ['ü.md', 'a+b#c?.md', 'a\\b.md', '%2e%2e/a.md', '..%2fa.md', 'a%00.md']) {
    const body = { files: [files[0], { path, text: 'a' }] }
    const failed = await expectError(t, 400, 'bad_skill', () => ann.call('POST', '/skills', body))
    expect(JSON.stringify(failed.body)).toContain('is invalid')
  }
})
