import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { eq } from 'drizzle-orm'
import { validate } from 'skills-ref'

import { sha256 } from '../../kernel/ids.ts'
import { isRecord, itemsOf } from '../../kernel/schema.ts'
import { folder, publishPack, skillText, steps } from '../../testing/fixtures/folders.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'
import { apps } from '../tables.ts'

let ctx: TestServer
let ann: TestAgent
let ben: TestAgent

beforeEach(async () => {
  ctx = await startTestServer()
  ann = await ctx.agent('ann')
  ben = await ctx.agent('ben')
})
afterEach(() => ctx.close())

const current = '/.well-known/agent-skills/index.json'
const legacy = '/.well-known/skills/index.json'

async function skillsOf(path: string): Promise<Record<string, unknown>[]> {
  const { status, body } = await ctx.request('GET', path)
  expect(status).toBe(200)
  return itemsOf(isRecord(body) ? body['skills'] : undefined).filter(isRecord)
}

const pathOf = (url: unknown): string => String(url).replace('http://localhost:3000', '')

test('the index of 0.2.0 has the digest of each artifact', async () => {
  await publishPack(ann, { ...folder(), store: true })
  await publishPack(ann, { skill: skillText('one-file'), store: true })
  await publishPack(ann, { skill: skillText('unlisted') })
  const { body } = await ctx.request('GET', current)
  expect(body).toMatchObject({
    $schema: 'https://schemas.agentskills.io/discovery/0.2.0/schema.json',
    skills: [
      { name: 'one-file', type: 'skill-md', description: 'Writes release notes from commits.' },
      { name: 'release-notes', type: 'archive' },
    ],
  })
  for (const { url, digest } of await skillsOf(current)) {
    const { bytes, headers } = await ctx.request('GET', pathOf(url))
    expect(digest).toBe(`sha256:${sha256(bytes)}`)
    expect(headers.get('access-control-allow-origin')).toBe('*')
  }
})

test('the reference validator accepts every unpacked pack', async () => {
  const metadata =
    'license: MIT\ncompatibility: Needs git\nmetadata:\n  version: "2"\nallowed-tools: Bash\n'
  await publishPack(ann, { skill: skillText('one-file', metadata), store: true })
  await publishPack(ann, { ...folder('steps-too'), steps, store: true }, 'framework')
  for (const { name, url } of await skillsOf(current)) {
    const out = mkdtempSync(join(tmpdir(), 'skills-'))
    const link = pathOf(url).replace(/\/[^/]*$/, '.tar.gz')
    await Bun.write(join(out, 'pack.tar.gz'), (await ctx.request('GET', link)).bytes)
    expect(Bun.spawnSync(['tar', 'xzf', 'pack.tar.gz'], { cwd: out }).exitCode).toBe(0)
    expect(await validate(join(out, String(name)))).toEqual([])
    rmSync(out, { recursive: true })
  }
})

test('the archive of the index has SKILL.md at its top', async () => {
  await publishPack(ann, { ...folder(), store: true })
  const [entry] = await skillsOf(current)
  const { bytes } = await ctx.request('GET', pathOf(entry?.['url']))
  expect(new TextDecoder().decode(Bun.gunzipSync(new Uint8Array(bytes)).subarray(0, 8))).toBe(
    'SKILL.md',
  )
})

test('the index of 0.1.0 lists files that load below it', async () => {
  await publishPack(ann, { ...folder(), store: true })
  const [entry] = await skillsOf(legacy)
  expect(entry?.['files']).toEqual(['SKILL.md', 'references/tone.md', 'scripts/list.sh'])
  for (const { path, text } of folder().files) {
    const { body } = await ctx.request('GET', `/.well-known/skills/release-notes/${path}`)
    expect(body).toBe(text)
  }
  expect((await ctx.request('GET', '/.well-known/skills/nothing/SKILL.md')).status).toBe(404)
})

test('a maker lists all of its packs, the root one of each name', async () => {
  await publishPack(ann, { skill: skillText('same'), store: true })
  ctx.clock.advance(1_000)
  const best = await publishPack(ben, { skill: skillText('same'), store: true })
  const [ids] = [async (path: string) => (await skillsOf(path)).map(({ url }) => pathOf(url))]
  expect(await ids(`/@ben${current}`)).toEqual([`/skills/${best}/SKILL.md?version=1`])
  expect(await ids(current)).not.toEqual(await ids(`/@ben${current}`))
  await ctx.ctx.db.tx((db) => db.update(apps).set({ successLow: 9 }).where(eq(apps.id, best)))
  expect(await ids(current)).toEqual([`/skills/${best}/SKILL.md?version=1`])
  expect((await ctx.request('GET', `/@ann${legacy}`)).status).toBe(200)
  expect((await ctx.request('GET', `/@nobody${current}`)).status).toBe(404)
})

test('a takedown ends every address of a pack', async () => {
  const id = await publishPack(ann, { ...folder(), store: true })
  const links = [
    `/skills/${id}.tar.gz`,
    `/skills/${id}/SKILL.md`,
    '/.well-known/skills/release-notes/SKILL.md',
  ]
  for (const link of links) expect((await ctx.request('GET', link)).status).toBe(200)
  await ann.call('PATCH', `/skills/${id}`, { store: false })
  for (const link of links) expect((await ctx.request('GET', link)).status).toBe(404)
  expect(await skillsOf(current)).toEqual([])
})
