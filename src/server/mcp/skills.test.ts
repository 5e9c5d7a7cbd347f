import { afterEach, beforeEach, expect, test } from 'bun:test'

import { sha256 } from '../../kernel/ids.ts'
import { folder, publishPack, reference, skillText, steps } from '../../testing/fixtures/folders.ts'
import { send } from '../../testing/fixtures/mcp-server.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'

let t: TestServer
let ann: TestAgent

beforeEach(async () => {
  t = await startTestServer()
  ann = await t.agent('ann')
})
afterEach(() => t.close())

const bodyOf = async (method: string, params: Record<string, unknown> = {}) =>
  Object((await send(t, method, params)).body)

test('a server says that it serves skills, and lists each with the digests of its files', async () => {
  const { result } = await bodyOf('server/discover')
  expect(result.capabilities.extensions).toHaveProperty(['io.modelcontextprotocol/skills'])
  const text = skillText(
    'release-notes',
    'license: MIT\nmetadata:\n  version: "2.10"\n  build: 7\n',
  )
  const files = folder().files.map((file) => (file.path === 'SKILL.md' ? { ...file, text } : file))
  const id = await publishPack(ann, { files, store: true })
  await publishPack(ann, { skill: skillText('unlisted') })
  const listed = (await bodyOf('skills/list')).result
  const at = `skill://packs/${id}/release-notes`
  expect(listed).toMatchObject({
    resultType: 'complete',
    cacheScope: 'public',
    ttlMs: expect.any(Number),
    nextCursor: 'framework:',
    skills: [
      {
        uri: `${at}/SKILL.md`,
        frontmatter: {
          name: 'release-notes',
          description: 'Writes release notes from commits.',
          license: 'MIT',
          metadata: { version: '2.10', build: 7 },
        },
      },
    ],
  })
  const [{ resources }] = listed.skills
  const named = Object.fromEntries(
    resources.map(({ uri, ...rest }: { uri: string }) => [uri.slice(at.length + 1), rest]),
  )
  expect(Object.keys(named)).toEqual(['SKILL.md', 'references/tone.md', 'scripts/list.sh'])
  expect(named['references/tone.md']).toEqual({
    digest: `sha256:${sha256(reference.text)}`,
    size: reference.text.length,
  })
  for (const { uri, digest, size } of resources) {
    const [content] = (await bodyOf('resources/read', { uri })).result.contents
    expect([content.uri, `sha256:${sha256(content.text)}`, content.text.length]).toEqual([
      uri,
      digest,
      size,
    ])
  }
  const { skill, resultType } = (await bodyOf('skills/get', { uri: `${at}/SKILL.md` })).result
  expect([skill, resultType]).toEqual([listed.skills[0], 'complete'])
})

test('a framework is a skill, too', async () => {
  const pack = { skill: skillText('plan'), steps, store: true }
  const id = await publishPack(ann, pack, 'framework')
  const { result } = await bodyOf('skills/list', { cursor: 'framework:' })
  expect(result).toMatchObject({ skills: [{ uri: `skill://packs/${id}/plan/SKILL.md` }] })
  expect(result).not.toHaveProperty('nextCursor')
})

test('an address that is none of a skill on Explore is an invalid parameter', async () => {
  const id = await publishPack(ann, { ...folder(), store: true })
  const unlisted = await publishPack(ann, { skill: skillText('unlisted') })
  const app = await ann.publish({ store: true })
  for (const path of [
    `packs/${id}/other/SKILL.md`,
    `packs/${id}/release-notes/references/tone.md`,
    `packs/${id}/release-notes/`,
    `packs/${unlisted}/unlisted/SKILL.md`,
    `packs/${app}/app/SKILL.md`,
    `${id}/SKILL.md`,
    'packs/%/a/SKILL.md',
  ]) {
    const { error } = await bodyOf('skills/get', { uri: `skill://${path}` })
    expect([path, error?.code]).toEqual([path, -32_602])
  }
  for (const path of [`packs/${id}/other/SKILL.md`, `packs/${unlisted}/unlisted/SKILL.md`]) {
    const { error } = await bodyOf('resources/read', { uri: `skill://${path}` })
    expect(error.code).toBe(-32_602)
  }
  expect((await bodyOf('skills/list', { cursor: 'game:' })).error.code).toBe(-32_602)
})

test('names of metadata that YAML reads as the same value stay apart, and hide no other skill', async () => {
  const fine = await publishPack(ann, { ...folder(), store: true })
  const listed = async () => (await bodyOf('skills/list')).result.skills
  for (const [name, first, second] of [
    ['numbers', '1', '0x1'],
    ['booleans', 'true', 'True'],
    ['nothing', '~', 'null'],
  ] as const) {
    const skill = skillText(name, `metadata:\n  ${first}: x\n  ${second}: y\n`)
    const id = await publishPack(ann, { skill, store: true })
    const uri = `skill://packs/${id}/${name}/SKILL.md`
    const { skill: got } = (await bodyOf('skills/get', { uri })).result
    expect(got.frontmatter.metadata).toEqual({ [first]: 'x', [second]: 'y' })
    expect(await listed()).toContainEqual(got)
  }
  expect(JSON.stringify(await listed())).toContain(`skill://packs/${fine}/`)
})
