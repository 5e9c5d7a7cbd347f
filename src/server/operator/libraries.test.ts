import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { recordOf } from '../../kernel/schema.ts'
import { integrityOf, openRegistry, tarball } from '../../testing/fixtures/registry.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { runCommand } from './control.ts'

const manifest = JSON.stringify({
  name: 'tiny-lib',
  version: '1.2.3',
  license: 'MIT',
  main: 'a.js',
})
const library = {
  'package/package.json': manifest,
  'package/LICENSE': 'Permission is granted',
  'package/a.js': 'window.tiny = 1',
}

const html =
  '<!doctype html><title>t</title><script src="https://unpkg.com/tiny-lib@1.2.3"></script>'

test('the operator adds a package from a registry, and apps keep it', async () => {
  const bytes = tarball(library)
  const registry = openRegistry({ 'tiny-lib': bytes })
  const { ctx, request, agent, close } = await startTestServer({ LIBRARY_REGISTRY: registry.url })
  const libraries = (...words: string[]) => runCommand(ctx, { command: 'libraries', words })
  const ann = await agent('ann')
  const before = await ann.call('POST', '/apps', { html, dryRun: true })
  expect(before.body).toMatchObject({ scan: { verdict: 'warn' } })

  expect(await libraries('add', 'tiny-lib@1.2.3')).toEqual({
    ok: true,
    text: 'tiny-lib@1.2.3 is in the library store: 3 files, license MIT.',
    data: { name: 'tiny-lib', version: '1.2.3', license: 'MIT', files: 3 },
  })
  expect((await libraries('add', 'tiny-lib@1.2.3')).ok).toBe(false)
  expect((await libraries('add', 'tiny-lib@9.9.9')).text).toContain('status 404')
  const listed = JSON.stringify((await request('GET', '/api/libraries')).body)
  expect(listed).toContain('"name":"tiny-lib","version":"1.2.3","license":"MIT","source":"added"')
  const license = await request('GET', '/api/libraries/license?library=tiny-lib@1.2.3')
  expect(String(license.body)).toContain('Permission is granted')
  expect((await request('GET', '/api/libraries/license?library=none@1.0.0')).status).toBe(404)

  const made = await ann.call('POST', '/apps', { html })
  expect(made.body).toMatchObject({ scan: { verdict: 'clean' } })
  const id = String(recordOf(recordOf(made.body)['app'])['id'])
  expect(await libraries('remove', 'tiny-lib@1.2.3')).toEqual({
    ok: false,
    text: 'tiny-lib@1.2.3 was not removed: 1 app uses it.',
  })
  expect((await libraries('list')).text).toMatch(/tiny-lib@1\.2\.3 .*added {2}MIT .*1 apps/)
  expect(JSON.stringify((await request('GET', `/a/${id}/files`)).body)).toContain('tiny-lib@1.2.3')
  expect((await libraries('remove', 'three@0.180.0')).text).toContain('part of this program')
  registry.close()
  await close()
})

test('an unused package is removed', async () => {
  const { ctx, close } = await startTestServer()
  const libraries = (...words: string[]) => runCommand(ctx, { command: 'libraries', words })
  const path = join(ctx.config.dataDir, 'tiny.tgz')
  writeFileSync(path, tarball(library))
  expect((await libraries('add', path)).ok).toBe(true)
  expect(await libraries('remove', 'tiny-lib@1.2.3')).toMatchObject({ ok: true })
  expect((await libraries('remove', 'tiny-lib@1.2.3')).ok).toBe(false)
  expect((await libraries('list')).text).not.toContain('tiny-lib')
  await close()
})

test('a tarball with another integrity, a name or a path that leaves its folder is not added', async () => {
  const registry = openRegistry(
    { 'tiny-lib': tarball(library) },
    { integrity: integrityOf(Buffer.from('other')) },
  )
  const { ctx, close } = await startTestServer({ LIBRARY_REGISTRY: registry.url })
  const libraries = (...words: string[]) => runCommand(ctx, { command: 'libraries', words })
  expect((await libraries('add', 'tiny-lib@1.2.3')).text).toContain('does not match its integrity')
  const path = join(ctx.config.dataDir, 'bad.tgz')
  const add = async (bytes: Uint8Array) => {
    writeFileSync(path, bytes)
    return libraries('add', path)
  }
  const named = (name: string) => JSON.stringify({ name, version: '1.0.0' })
  expect((await add(tarball({ 'package/package.json': named('../../etc') }))).ok).toBe(false)
  expect((await add(tarball({ 'package/a.js': 'x' }))).text).toContain('no package.json')
  expect((await add(Buffer.from('no archive'))).ok).toBe(false)
  const leaving = { ...library, 'package/../../evil.js': 'x' }
  expect((await add(tarball(leaving))).text).toContain('leaves the package')
  expect((await add(tarball({ ...library, 'package//two.js': 'x' }))).text).toContain('3 files')
  expect((await libraries('add', join(ctx.config.dataDir, 'none.tgz'))).text).toContain(
    'does not exist',
  )
  expect((await libraries('what')).ok).toBe(false)
  registry.close()
  await close()
})
