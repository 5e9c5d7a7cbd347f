import { afterAll, expect, test } from 'bun:test'

import { expectError } from '../../testing/expect-error.ts'
import { badZips, zipsWithDuplicates } from '../../testing/fixtures/bad-zips.ts'
import { folder, publishPack, steps } from '../../testing/fixtures/folders.ts'
import { claimAgent, hiddenFields, signUp } from '../../testing/fixtures/form-browser.ts'
import { callTool } from '../../testing/fixtures/mcp-server.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { toolZips } from '../../testing/fixtures/tool-zips.ts'
import { buildZip } from '../../testing/fixtures/zips.ts'

const t = await startTestServer()
const ann = await t.agent('ann')
const olga = await signUp(t, 'olga')
await claimAgent(olga, ann)
const app = await ann.publish()
const skill = await publishPack(ann, folder())
afterAll(() => t.close())

const zipType = { 'content-type': 'application/zip' }
const framework = `/frameworks?steps=${encodeURIComponent(JSON.stringify(steps))}`
const operations: [path: string, code: string][] = [
  ['/apps', 'bad_request'],
  [`/apps/${app}/versions`, 'bad_request'],
  ['/skills', 'bad_skill'],
  [`/skills/${skill}/versions`, 'bad_skill'],
  [framework, 'bad_skill'],
]
const forms = [
  ['/new', '/new/page'],
  ['/new/skill', '/new/skill'],
] as const

/** Returns the texts of a JSON body: the error and its reasons. */
const textsOf = (body: unknown): string => {
  const { error, reasons = [] } = Object(body)
  return [error, ...reasons].join('\n')
}

const textOf = (page: unknown): string =>
  String(page).replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&')

test('no operation publishes a bad zip: the error says why, nothing is stored or charged', async () => {
  for (const [at, [, zip, why]] of badZips.entries()) {
    // Each zip is sent to two operations, and each kind of operation gets many.
    for (const [path, code] of [operations[at % 2], operations[2 + (at % 3)]].flatMap((one) =>
      one ? [one] : [],
    )) {
      const failed = await expectError(t, 400, code, () => ann.call('POST', path, zip, zipType))
      expect(textsOf(failed.body)).toContain(why)
    }
  }
})

test('no operation publishes two files that are one to a file system', async () => {
  for (const [name, zip] of zipsWithDuplicates) {
    for (const [path, code] of operations) {
      const failed = await expectError(t, 400, code, () => ann.call('POST', path, zip, zipType))
      // Paths of packs are ASCII, so a form of Unicode is rejected before.
      const isPack = code === 'bad_skill' && name === 'a form of Unicode'
      expect(textsOf(failed.body)).toContain(isPack ? 'is invalid' : 'there twice')
    }
  }
})

test('the forms of pages reject the same zips', async () => {
  const before = await t.snapshot()
  for (const [, zip, why] of badZips) {
    for (const [page, action] of forms) {
      const data = new FormData()
      const fields = { ...hiddenFields(await olga.read(page), action), as: 'ann', html: '' }
      for (const [name, value] of Object.entries(fields)) data.set(name, value)
      data.set('file', new File([zip], 'reef.zip'))
      const failed = await olga.send(action, data)
      expect([action, failed.status]).toEqual([action, 400])
      expect(textOf(failed.body)).toContain(why)
    }
  }
  expect(await t.snapshot()).toEqual(before)
})

const paths = ['../a.md', '/a.md', 'C:\\a.md', 'a\\b.md', 'a\0.md', '%2e%2e/a.md', '..%2fa.md']
const index = { path: 'index.html', text: '<h1>Reef</h1>' }

test('files of JSON and of MCP tools have the same rules', async () => {
  const { files } = folder('mcp')
  for (const path of paths) {
    const file = { path, text: 'a' }
    const page = { files: [index, file] }
    const pack = { files: [...files, file] }
    const reason = `${JSON.stringify(path)} is invalid`
    const noApp = await expectError(t, 400, 'bad_request', () => ann.call('POST', '/apps', page))
    const noPack = await expectError(t, 400, 'bad_skill', () => ann.call('POST', '/skills', pack))
    for (const body of [noApp.body, noPack.body]) expect(textsOf(body)).toContain(reason)
    const before = await t.snapshot()
    const tools = [await tool('publish_app', page), await tool('publish_skill', pack)]
    for (const result of tools) expect(result).toContain(JSON.stringify(reason).slice(1, -1))
    expect(await t.snapshot()).toEqual(before)
  }
})

const tool = async (name: string, args: object): Promise<string> =>
  JSON.stringify((await callTool(t, name, { ...args }, { key: ann.key })).structuredContent)

test('zips of real tools are published', async () => {
  for (const [name, base64] of Object.entries(toolZips)) {
    if (name === 'infozip-stdin') continue
    const zip = Uint8Array.fromBase64(base64)
    const made = await ann.call('POST', '/apps?title=Reef', zip, zipType)
    expect([name, made.status]).toEqual([name, 201])
  }
  const [entry] = folder('from-finder').files.filter(({ path }) => path === 'SKILL.md')
  const mac = { name: '__MACOSX/one/._SKILL.md', text: 'Mac OS X\0' }
  const zip = buildZip([{ name: 'one/SKILL.md', text: entry?.text ?? '' }, mac])
  expect((await ann.call('POST', '/skills', zip, zipType)).status).toBe(201)
})
