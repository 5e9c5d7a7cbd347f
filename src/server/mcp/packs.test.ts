import { afterEach, beforeEach, describe, expect, test } from 'bun:test'

import { folder, publishPack, skillText, steps } from '../../testing/fixtures/folders.ts'
import {
  callTool,
  type McpTestServer,
  post,
  send,
  startMcpTestServer,
} from '../../testing/fixtures/mcp-server.ts'
import type { TestAgent } from '../../testing/fixtures/test-server.ts'

let ctx: McpTestServer
let ann: TestAgent

beforeEach(async () => {
  ctx = await startMcpTestServer()
  ann = await ctx.agent('ann')
})
afterEach(() => ctx.close())

const resultOf = async (method: string, params: Record<string, unknown> = {}) => {
  const { body } = await send(ctx, method, params)
  return Reflect.get(Object(body), 'result')
}

describe('resources and prompts', () => {
  test('list the packs on Explore', async () => {
    const id = await publishPack(ann, { ...folder(), store: true })
    const other = await publishPack(
      ann,
      { skill: skillText('plan'), steps, store: true },
      'framework',
    )
    await publishPack(ann, { skill: skillText('unlisted') })
    const first = await resultOf('resources/list')
    expect(first).toMatchObject({
      resources: [{ uri: `skill://packs/${id}/release-notes/SKILL.md`, name: 'release-notes' }],
      nextCursor: 'framework:',
    })
    const second = await resultOf('resources/list', { cursor: 'framework:' })
    expect(second).toMatchObject({
      resources: [{ uri: `skill://packs/${other}/plan/SKILL.md`, name: 'plan' }],
    })
    expect(second).not.toHaveProperty('nextCursor')
    expect(await resultOf('prompts/list')).toMatchObject({
      prompts: [{ name: 'ann.release-notes', arguments: [{ name: 'task', required: false }] }],
    })
  })

  test('load a pack', async () => {
    const id = await publishPack(ann, { ...folder(), store: true })
    const { contents } = await resultOf('resources/read', { uri: `skill://${id}/SKILL.md` })
    expect(contents).toEqual([
      { uri: `skill://${id}/SKILL.md`, mimeType: 'text/markdown', text: skillText() },
    ])
    const uri = `skill://${id}/references/tone.md`
    expect(await resultOf('resources/read', { uri })).toMatchObject({ contents: [{ uri }] })
    const prompt = { name: 'ann.release-notes', arguments: { task: 'Write them for May.' } }
    const { messages } = await resultOf('prompts/get', prompt)
    expect(messages).toHaveLength(1)
    expect(messages[0].content.text).toStartWith(skillText().trim())
    const listed = `skill://packs/${id}/release-notes/references/tone.md`
    expect(messages[0].content.text).toContain(listed)
    expect(await resultOf('resources/read', { uri: listed })).toMatchObject({
      contents: [{ uri: listed }],
    })
    expect(messages[0].content.text).toEndWith('Write them for May.')
  })

  test('know only what is on Explore', async () => {
    const id = await publishPack(ann, { skill: skillText('unlisted') })
    const app = await ann.publish({ store: true })
    const uris = [`skill://${id}/SKILL.md`, `skill://${app}/SKILL.md`, 'skill://x/y', 'file:///a']
    for (const uri of uris) {
      const { body } = await send(ctx, 'resources/read', { uri })
      expect(body).toMatchObject({ error: { code: -32_602 } })
    }
    for (const name of ['ann.unlisted', 'nobody.unlisted', 'unlisted', '']) {
      const { body } = await send(ctx, 'prompts/get', { name })
      expect(body).toMatchObject({ error: { code: -32_602 } })
    }
    for (const cursor of ['game:', 'skill:nonsense', '%']) {
      const { body } = await send(ctx, 'resources/list', { cursor })
      expect(body).toMatchObject({ error: { code: -32_602 } })
    }
  })

  test('work with clients of the older revisions', async () => {
    const id = await publishPack(ann, { ...folder(), store: true })
    const params = { uri: `skill://${id}/SKILL.md` }
    const read = { jsonrpc: '2.0', id: 7, method: 'resources/read', params }
    expect((await post(ctx, read)).message).toMatchObject({
      result: { contents: [{ text: skillText() }] },
    })
  })
})

describe('tools', () => {
  test('publish, find, read and remix a skill', async () => {
    const { structuredContent } = await callTool(ctx, 'publish_skill', {
      key: ann.key,
      ...folder(),
      store: true,
    })
    expect(structuredContent).toMatchObject({ skill: { name: 'release-notes', listed: 'on' } })
    const found = await callTool(ctx, 'explore', { kind: 'skill', q: 'release' })
    expect(found.structuredContent).toMatchObject({ items: [{ name: 'release-notes' }] })
    const id = String(Reflect.get(Object(structuredContent['skill']), 'id'))
    const one = await callTool(ctx, 'get_skill', { id })
    expect(one.structuredContent).toMatchObject({ files: [{ path: 'SKILL.md' }, {}, {}] })
    const text = await callTool(ctx, 'read_skill', { id })
    expect(text.structuredContent).toEqual({ markdown: skillText() })
    const ben = await ctx.agent('ben')
    const copy = await callTool(ctx, 'remix_app', { key: ben.key, id })
    expect(copy.structuredContent).toMatchObject({ skill: { name: 'release-notes' } })
  })

  test('publish a framework', async () => {
    const made = await callTool(ctx, 'publish_framework', { key: ann.key, ...folder(), steps })
    expect(made.structuredContent).toMatchObject({ framework: { steps } })
    const bad = await callTool(ctx, 'publish_framework', { key: ann.key, skill: '# no', steps })
    expect(bad).toMatchObject({ isError: true, structuredContent: { code: 'bad_skill' } })
  })
})
