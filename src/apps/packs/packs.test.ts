import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { doctor } from '../../money/ledger/doctor.ts'
import { expectError } from '../../testing/expect-error.ts'
import {
  folder,
  publishPack,
  reference,
  script,
  skillText,
  steps,
} from '../../testing/fixtures/folders.ts'
import {
  startTestServer,
  type TestAgent,
  type TestResponse,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'

let t: TestServer
let ann: TestAgent
let ben: TestAgent

beforeEach(async () => {
  t = await startTestServer()
  ann = await t.agent('ann')
  ben = await t.agent('ben')
})
afterEach(async () => {
  expect(t.lines.filter(({ level }) => level === 'error')).toEqual([])
  expect(await doctor(t.ctx)).toMatchObject({ ok: true })
  await t.close()
})

const idOf = (response: TestResponse): string => response.text('skill.id')

describe('publishing', () => {
  test('a text becomes a skill', async () => {
    const more = 'license: MIT\nmetadata:\n  version: 1.0\nallowed-tools: Bash Read\n'
    const response = await ann.call('POST', '/skills', { skill: skillText('notes', more) })
    expect(response.status).toBe(201)
    const id = idOf(response)
    expect(response.body).toMatchObject({
      skill: {
        kind: 'skill',
        name: 'notes',
        title: 'notes',
        description: 'Writes release notes from commits.',
        license: 'MIT',
        metadata: { version: '1.0' },
        allowedTools: 'Bash Read',
        link: `http://localhost:3000/skills/${id}`,
        version: 1,
        store: false,
        state: 'live',
      },
      scan: { verdict: 'clean', warnings: [] },
    })
    const read = await ann.call('GET', `/skills/${id}`)
    expect(read.body).toMatchObject({ version: 1, files: [{ path: 'SKILL.md' }] })
  })

  test('a folder is served as text, files and archives', async () => {
    const id = await publishPack(ann, { ...folder(), store: true })
    const anyone = (path: string) => t.call('GET', `/skills/${id}${path}`)
    expect((await anyone('/SKILL.md')).body).toBe(skillText())
    const file = await anyone('/files/references/tone.md')
    expect(file.body).toBe(reference.text)
    expect(file.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
    const [tar, again] = [await anyone('.tar.gz'), await anyone('.tar.gz')]
    expect(tar.bytes).toEqual(again.bytes)
    for (const path of ['.tar.gz', '/SKILL.md', '/files/references/tone.md']) {
      const headers = { 'if-none-match': (await anyone(path)).headers.get('etag') ?? '' }
      const unchanged = await t.call('GET', `/skills/${id}${path}`, { headers })
      expect([path, unchanged.status]).toEqual([path, 304])
    }
    const out = mkdtempSync(join(tmpdir(), 'skills-'))
    try {
      await Bun.write(join(out, 'pack.tar.gz'), tar.bytes)
      expect(Bun.spawnSync(['tar', 'xzf', 'pack.tar.gz'], { cwd: out }).exitCode).toBe(0)
      const root = join(out, 'release-notes')
      expect(readdirSync(root).sort()).toEqual(['SKILL.md', 'references', 'scripts'])
      expect(readFileSync(join(root, 'scripts/list.sh'), 'utf8')).toBe(script.text)
    } finally {
      rmSync(out, { recursive: true })
    }
    // The zip of one pack can be published as another's version of it.
    const zip = await anyone('.zip')
    const sent = await t.call('POST', '/skills?store=true', {
      key: ben.key,
      body: zip.bytes,
      headers: { 'content-type': 'application/zip' },
    })
    expect(sent.status).toBe(201)
    const copied = await t.call('GET', `/skills/${idOf(sent)}.tar.gz`)
    expect(copied.bytes).toEqual(tar.bytes)
  })

  test('a framework has steps, and its share needs payments', async () => {
    const id = await publishPack(ann, { ...folder(), steps, store: true }, 'framework')
    expect((await t.call('GET', `/frameworks/${id}`)).body).toMatchObject({
      framework: { kind: 'framework', steps },
    })
    await expectError(t, 404, 'not_found', () => t.call('GET', `/skills/${id}`))
    const share = {
      percent: 5,
      of: 'profit',
      payTo: `0x${'a'.repeat(40)}`,
      network: 'eip155:8453',
      asset: 'USDC',
    }
    const sold = { ...folder('two'), steps, share }
    await expectError(t, 503, 'payments_off', () => ann.call('POST', '/frameworks', sold))
  })

  test('a pack that is not on Explore is visible to its maker only', async () => {
    const id = await publishPack(ann, folder())
    for (const path of ['', '.tar.gz', '.zip', '/SKILL.md', '/files/scripts/list.sh']) {
      await expectError(t, 404, 'not_found', () => t.call('GET', `/skills/${id}${path}`))
      await expectError(t, 404, 'not_found', () => ben.call('GET', `/skills/${id}${path}`))
      expect((await ann.call('GET', `/skills/${id}${path}`)).status).toBe(200)
    }
  })

  test('a name is taken once by each maker, and free again after the deletion', async () => {
    const id = await publishPack(ann, folder())
    await expectError(t, 409, 'skill_name_taken', () => ann.call('POST', '/skills', folder()))
    await expectError(t, 409, 'skill_name_taken', () =>
      ann.call('POST', '/frameworks', { ...folder(), steps }),
    )
    await publishPack(ben, folder())
    expect((await ann.call('DELETE', `/skills/${id}`)).status).toBe(200)
    const other = await publishPack(ann, folder())
    await expectError(t, 409, 'skill_name_taken', () => ann.call('POST', `/skills/${id}/restore`))
    await ann.call('DELETE', `/skills/${other}`)
    expect((await ann.call('POST', `/skills/${id}/restore`)).status).toBe(200)
  })

  test('a ref publishes a pack once, and a dry run stores nothing', async () => {
    const dry = await ann.call('POST', '/skills', { ...folder(), dryRun: true })
    expect(dry).toMatchObject({ status: 200, body: { scan: { verdict: 'clean' }, price: 0 } })
    const sent = { ...folder(), ref: 'notes-of-may' }
    const [one, two] = [
      await ann.call('POST', '/skills', sent),
      await ann.call('POST', '/skills', sent),
    ]
    expect(two.body).toEqual(one.body)
    const { body } = await ann.call('GET', '/skills')
    expect(body).toMatchObject({ skills: [{ name: 'release-notes' }], next: null })
  })
})

describe('the operations of apps', () => {
  test('a pack has versions, can be restored and changed', async () => {
    const id = await publishPack(ann, { ...folder(), store: true })
    const text = skillText().replace('List each', 'Describe each')
    const added = await ann.call('POST', `/skills/${id}/versions`, { skill: text, note: 'Shorter' })
    expect(added).toMatchObject({ status: 201, body: { skill: { version: 2, listed: 'on' } } })
    expect((await t.call('GET', `/skills/${id}/SKILL.md`)).body).toBe(text)
    expect((await t.call('GET', `/skills/${id}?version=1`)).body).toMatchObject({ version: 1 })
    // Files that change an older version would undo the newer one.
    const stale = await expectError(t, 400, 'bad_request', () =>
      ann.call('POST', `/skills/${id}/versions`, { skill: text, version: 1 }),
    )
    expect(stale.text('error')).toStartWith('Version 2 is the newest')
    const unknown = await expectError(t, 400, 'bad_request', () =>
      ann.call('POST', `/skills/${id}/versions`, { skill: text, version: 7 }),
    )
    expect(unknown.text('error')).toStartWith('Version 2 is the newest')
    const renamed = { skill: skillText('other') }
    await expectError(t, 400, 'bad_skill', () =>
      ann.call('POST', `/skills/${id}/versions`, renamed),
    )
    const restored = await ann.call('POST', `/skills/${id}/versions/1/restore`)
    expect(restored).toMatchObject({ status: 201, body: { skill: { version: 3 } } })
    expect((await t.call('GET', `/skills/${id}`)).body).toMatchObject({
      files: [{ path: 'SKILL.md' }, { path: 'references/tone.md' }, { path: 'scripts/list.sh' }],
    })
    const { body } = await ann.call('GET', `/skills/${id}/versions`)
    expect(body).toMatchObject({
      versions: [{ version: 3, via: 'restore' }, { version: 2, note: 'Shorter' }, { via: 'files' }],
    })
    const changed = await ann.call('PATCH', `/skills/${id}`, { title: 'Notes', shelf: 'writing' })
    expect(changed.body).toMatchObject({ skill: { title: 'Notes', shelf: 'writing' } })
  })

  test('the operations of packs do not find apps, and the other way round', async () => {
    const id = await publishPack(ann, folder())
    const app = await ann.publish({ html: '<!doctype html><title>a</title>' })
    expect((await ann.call('GET', '/apps')).body).toMatchObject({ apps: [{ id: app }], next: null })
    for (const path of ['', '/html', '/versions', '/assets']) {
      await expectError(t, 404, 'not_found', () => ann.call('GET', `/apps/${id}${path}`))
    }
    await expectError(t, 404, 'not_found', () => ann.call('DELETE', `/apps/${id}`))
    await expectError(t, 404, 'not_found', () => ann.call('GET', `/skills/${app}`))
    expect((await t.request('GET', `/a/${id}`)).status).toBe(404)
  })

  test('Explore finds packs by kind, name and text', async () => {
    const id = await publishPack(ann, { ...folder(), store: true })
    const other = await publishPack(
      ann,
      { ...folder('plan-trip'), steps, store: true },
      'framework',
    )
    await ann.publish({ html: '<!doctype html><title>a</title>', store: true })
    const ids = async (query: string) => {
      const { body } = await t.call('GET', `/explore?${query}`)
      const items: unknown = Reflect.get(Object(body), 'items')
      return Array.isArray(items) ? items.map((item) => String(item.id)) : []
    }
    expect(await ids('kind=skill')).toEqual([id])
    expect(await ids('kind=framework&sort=record')).toEqual([other])
    expect(await ids('q=plan-trip')).toEqual([other])
    expect(await ids('q=commits&kind=skill')).toEqual([id])
    expect(await ids('sort=record')).toHaveLength(3)
  })

  test('a remix copies the folder under a free name', async () => {
    const id = await publishPack(ann, { ...folder(), steps, store: true }, 'framework')
    await publishPack(ben, folder())
    const remix = await ben.call('POST', `/apps/${id}/remix`, {})
    expect(remix).toMatchObject({
      status: 201,
      body: {
        framework: { name: 'release-notes-2', title: 'release-notes-2', steps, remixOf: { id } },
        bought: { item: id, credits: 0 },
      },
    })
    const copy = remix.text('framework.id')
    const { body } = await ben.call('GET', `/frameworks/${copy}/SKILL.md`)
    expect(body).toBe(skillText('release-notes-2'))
    const named = await ben.call('POST', `/apps/${id}/remix`, { name: 'mine' })
    expect(named.body).toMatchObject({ framework: { name: 'mine' } })
    await expectError(t, 409, 'skill_name_taken', () =>
      ben.call('POST', `/apps/${id}/remix`, { name: 'mine' }),
    )
  })

  test('agents that read a pack may review, comment and report it', async () => {
    const id = await publishPack(ann, { ...folder(), store: true })
    const review = { stars: 5, text: 'Short and clear.' }
    await expectError(t, 403, 'not_used', () => ben.call('PUT', `/explore/${id}/review`, review))
    await ben.call('GET', `/skills/${id}/SKILL.md`)
    expect((await ben.call('PUT', `/explore/${id}/review`, review)).status).toBe(201)
    const comment = await ben.call('POST', `/explore/${id}/comments`, { text: 'Thanks.' })
    expect(comment.status).toBe(201)
    const { body } = await t.call('GET', `/explore/${id}`)
    expect(body).toMatchObject({ item: { kind: 'skill', rating: { stars: 5, count: 1 } } })
    const report = await t.call('POST', '/report', { body: { item: id, reason: 'malware' } })
    expect(report.status).toBe(201)
  })

  test('a paid remix shares its price with the maker', async () => {
    const terms = { remix: 'price', priceRemix: 50 }
    const id = await publishPack(ann, { ...folder(), ...terms, store: true })
    expect((await t.call('GET', `/skills/${id}/SKILL.md`)).status).toBe(200)
    await expectError(t, 402, 'price_above_max', () =>
      ben.call('POST', `/apps/${id}/remix`, { maxCredits: 49 }),
    )
    const copy = await ben.call('POST', `/apps/${id}/remix`, { maxCredits: 50, ref: 'release-1' })
    expect(copy.body).toMatchObject({ bought: { credits: 50, makerCredits: 40 } })
    const again = await ben.call('POST', `/apps/${id}/remix`, { maxCredits: 50, ref: 'release-1' })
    expect(again.body).toEqual(copy.body)
  })

  test('packs have icon, scan, rescan and export', async () => {
    const id = await publishPack(ann, folder())
    expect((await ann.call('GET', `/apps/${id}/scan`)).body).toMatchObject({ verdict: 'clean' })
    expect((await ann.call('POST', `/apps/${id}/rescan`)).status).toBe(200)
    const zip = await ann.call('GET', `/apps/${id}/export`)
    expect(Buffer.from(zip.bytes).includes('versions/1/files/references/tone.md')).toBe(true)
    expect((await ann.call('DELETE', `/apps/${id}/icon`)).status).toBe(200)
  })
})
