import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { TSchema } from '@sinclair/typebox'
import { zipSync } from 'fflate'

import { loadConfig } from '../kernel/config/load.ts'
import { expectedOf, toText } from '../kernel/config/setting-types.ts'
import { SettingsSchema } from '../kernel/config/settings.ts'
import { createGatewayUser } from './fixtures/gateway.ts'
import { createTestPerson } from './fixtures/people.ts'
import { startTestServer } from './fixtures/test-server.ts'

setDefaultTimeout(120_000)

const root = join(import.meta.dir, '../..')
const guides = ['README.md', 'docs/agents.md', 'docs/models.md', 'docs/operating.md']
const pages = await Promise.all(guides.map((path) => Bun.file(join(root, path)).text()))
/** The shell commands of the guide of apps. Its pages run in src/testing/hosts/guide.test.ts. */
const apps = (await Bun.file(join(root, 'docs/apps.md')).text()).replaceAll(
  /^```(?:html|js)\n.*?^```/gms,
  '',
)
const blocks = [...[...pages, apps].join('\n').matchAll(/^```(\w*)\n(.*?)^```/gms)].map(
  ([, kind = '', text = '']) => ({
    kind,
    text,
  }),
)

test('docs/settings.md lists every setting with its default and description, and no other', async () => {
  const page = await Bun.file(join(root, 'docs/settings.md')).text()
  const rows = Object.entries<TSchema>(SettingsSchema.properties).map(([name, setting]) => {
    const initial = toText(setting.default)
    const mark = setting.editable ? ' \\*' : ''
    const value = initial && `\`${initial}\``
    return [`\`${name}\`${mark}`, expectedOf(setting), value, setting.description]
  })
  const listed = [
    ...page.matchAll(/^\| (`[A-Z0-9_]+`(?: \\\*)?) \| (.*?) \| (.*?) ?\| (.*) \|$/gm),
  ].map(([, name, expected, initial, description = '']) => [
    name,
    expected,
    initial,
    description.replaceAll('`', ''),
  ])
  expect(listed).toEqual(rows)
})

/** Returns the only code block of the guides that contains these words. */
function block(words: string): string {
  const found = blocks.filter(({ text }) => text.includes(words))
  expect(found).toHaveLength(1)
  return found[0]?.text ?? ''
}
const walks = {
  publish: block('A page, scanned and live immediately'),
  variables: block('auth="Authorization'),
  prompt: block('collects coins and dodges rocks'),
  more: block('--data-binary @ship.png'),
  skills: block('name: release-notes'),
  people: block('$api/people/me/agents'),
  client: block("import OpenAI from 'openai'"),
  cap: block('accounts/keys'),
  sponsor: block('/sponsor'),
  toml: block('[[upstream]]'),
}
/** Code blocks that no test runs: scripts of the checkout, external programs, proxies, settings. */
const others =
  /scripts\/start|docker build|berth config|berth serve|mcporter|service\.assets|TRUSTED_PROXIES|reverse_proxy|proxy_pass|berth upgrade|berth copy|OIDC_ISSUER|scrape_configs|berth projects|balance = "weights"|POST \/check|S3_ENDPOINT|pg_dump|pg_restore|alert\.firing|systemctl enable/

test('every code block of the guides is run by a test or excluded by name', () => {
  const walked: string[] = Object.values(walks)
  const left = blocks.filter(({ text }) => !walked.includes(text) && !others.test(text))
  expect(left).toEqual([])
})

const folder = mkdtempSync(join(tmpdir(), 'berth-readme-'))
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
// Each response of curl ends with its status on a line of its own.
writeFileSync(join(folder, '.curlrc'), 'write-out = "\\n%{http_code}\\n"\n')
const t = await startTestServer()
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 0,
  fetch: (request) => t.handle(request, '127.0.0.1'),
})
await t.ctx.jobs.start()
afterAll(async () => {
  await server.stop(true)
  await t.close()
  rmSync(folder, { recursive: true })
})

const here = (text: string) =>
  text.replaceAll('http://localhost:3000', `http://127.0.0.1:${server.port}`)

/** Pastes lines into bash. Returns the output and the statuses of the responses. */
async function paste(lines: string, env: Record<string, string> = {}) {
  const shell = Bun.spawn(['bash', '-c', here(lines)], {
    cwd: folder,
    env: { PATH: Bun.env.PATH, HOME: folder, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([shell.stdout.text(), shell.stderr.text()])
  expect([err, await shell.exited]).toEqual(['', 0])
  return { out, statuses: out.match(/^\d{3}$/gm) ?? [] }
}

test('the steps from no key to a live link, from a prompt to a game, and those after it', async () => {
  const ship = await t.ctx.generators.generate({ kind: 'sprite', what: 'a ship', seed: '1' })
  await Bun.write(join(folder, 'ship.png'), ship.bytes)
  const game = { 'index.html': '<script src="game.js"></script>', 'game.js': 'start()' }
  const encoded = Object.entries(game).map(([path, text]) => [path, new TextEncoder().encode(text)])
  await Bun.write(join(folder, 'game.zip'), zipSync(Object.fromEntries(encoded)))
  // A person does not type fast enough for the second build to run into the first.
  const built = `for turn in {1..200}; do
    curl -s $api/jobs -H "$auth" | grep -qE '"state":"(queued|running)"' || break; sleep 0.1; done`
  const lines = [walks.publish, walks.variables, walks.prompt, built, walks.more]
  const { out, statuses } = await paste(lines.join('\n'))
  expect(statuses.join(' ')).toBe('201 202 202 201 201 200 201 201 200 201 200')
  const [link = ''] = /http[^"]*\/a\/[\w-]{12}/.exec(out) ?? []
  const page = await t.request('GET', `${new URL(link).pathname}/data`)
  expect(String(page.body)).toContain('<h1>Hello</h1>')
  expect(out).toContain('"state":"done"')
  expect(out).toContain('"name":"ship.png"')
  expect(out).toContain('"listed":"on"')
  const zip = await Bun.file(join(folder, 'app.zip')).bytes()
  expect(new TextDecoder().decode(zip.subarray(0, 2))).toBe('PK')
})

test('a skill is published, found and installed', async () => {
  const text = '---\nname: my-skill\ndescription: Draws maps.\n---\n# Maps\n'
  const zip = zipSync({ 'my-skill/SKILL.md': new TextEncoder().encode(text) })
  await Bun.write(join(folder, 'my-skill.zip'), zip)
  const { key } = await t.agent('wren')
  // This home has no .curlrc, which would write into the archive.
  const home = join(folder, 'home')
  mkdirSync(home)
  const setUp = 'api=http://localhost:3000/api; auth="Authorization: Bearer $KEY"\n'
  const published = `http://127.0.0.1:${server.port}`
  const local = 'curl() { command curl "${@/http:\\/\\/localhost:3000/$local}"; }\n'
  const env = { KEY: key, HOME: home, local: published }
  const { out } = await paste(local + setUp + walks.skills, env)
  expect(out).toContain('"name":"my-skill"')
  const installed = join(home, '.claude/skills/release-notes/SKILL.md')
  expect(await Bun.file(installed).text()).toContain('name: release-notes')
})

test('a personal key sends credits and sets a cap', async () => {
  const [olga, fox] = [await createTestPerson(t, 'olga', 1n), await t.agent('fox')]
  const code = (await fox.call('POST', '/me/claim')).text('claim.code')
  expect((await olga.call('POST', '/claim', { code })).status).toBe(200)
  const setUp = 'api=http://localhost:3000/api\n'
  const { out, statuses } = await paste(setUp + walks.people, { PK: olga.key })
  expect(statuses).toEqual(['200', '200', '200'])
  expect(out).toContain('"dailyCap":100')
})

test('a maker sponsors an app, reads its caps and ends it', async () => {
  const wren = await t.agent('wren')
  const setUp = 'api=http://localhost:3000/api; auth="Authorization: Bearer $KEY"\n'
  const env = { KEY: wren.key, ID: await wren.publish() }
  const { out, statuses } = await paste(setUp + walks.sponsor, env)
  expect(statuses).toEqual(['200', '200', '200'])
  expect(out).toContain('"playerDailyCap":20')
})

test('the openai client gets a response, and a key has its cap', async () => {
  const { key } = await createGatewayUser(t, '1')
  const file = join(folder, 'client.mjs')
  await Bun.write(file, here(walks.client))
  const client = Bun.spawn([process.execPath, file], {
    cwd: folder,
    env: { PATH: Bun.env.PATH, GATEWAY_KEY: key },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([client.stdout.text(), client.stderr.text()])
  expect([err, await client.exited]).toEqual(['', 0])
  expect(out).toMatch(/^Ahoy \d/)
  // The shell that has the key can also start the server, so this variable is not a misspelled
  // setting.
  const [, name = ''] = /process\.env\.(\w+)/.exec(walks.client) ?? []
  expect(() => loadConfig({ DATA_DIR: folder }, { [name]: key })).not.toThrow()
  const { statuses } = await paste(walks.cap, { GATEWAY_KEY: key })
  expect(statuses).toEqual(['201'])
})

test('the example berth.toml is valid', () => {
  const path = join(folder, 'berth.toml')
  writeFileSync(path, walks.toml)
  const config = loadConfig({ DATA_DIR: folder }, { BERTH_CONFIG: path, OPENROUTER_API_KEY: 'x' })
  expect(config.upstreams.map(({ name }) => name)).toEqual(['local', 'router'])
  expect(config.models).toMatchObject([{ id: 'local/small', upstreams: ['local', 'router'] }])
})
