import { afterEach, beforeEach, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { isSignedPath, openSecret, signPath } from './signed-url.ts'

const secret = 'a secret of the test'
const path = '/looks/abcdefghijkl/1/boat.png'

function marksOf(link: string): { expires: string; signature: string } {
  const query = new URL(link, 'http://localhost').searchParams
  return { expires: query.get('expires') ?? '', signature: query.get('signature') ?? '' }
}

test('a signed URL is valid for its own path until it expires', () => {
  const link = signPath(secret, path, 5_000)
  expect(link.startsWith(`${path}?`)).toBe(true)
  expect(isSignedPath(secret, path, marksOf(link), 4_999)).toBe(true)
  expect(isSignedPath(secret, path, marksOf(link), 5_000)).toBe(false)
})

test('a changed URL is invalid', () => {
  const { expires, signature } = marksOf(signPath(secret, path, 5_000))
  const rejected = [
    isSignedPath('another secret', path, { expires, signature }, 0),
    isSignedPath(secret, path.replace('boat', 'moat'), { expires, signature }, 0),
    isSignedPath(secret, path, { expires: '9999999999999', signature }, 0),
    isSignedPath(secret, path, { expires: '05000', signature }, 0),
    isSignedPath(secret, path, { expires, signature: signature.slice(1) }, 0),
    isSignedPath(secret, path, { expires, signature: `${signature}A` }, 0),
    isSignedPath(secret, path, { expires, signature: signature.replace(/^./, '~') }, 0),
    isSignedPath(secret, path, { expires, signature: 'é'.repeat(signature.length) }, 0),
    isSignedPath(secret, path, { expires }, 0),
    isSignedPath(secret, path, { signature }, 0),
    isSignedPath(secret, path, {}, 0),
  ]
  expect(rejected).toEqual(rejected.map(() => false))
})

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'berth-secret-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

test('the secret is created once and readable only by its owner', async () => {
  const made = await openSecret(dir)
  expect(made).toMatch(/^[A-Za-z0-9]{40}$/)
  const file = join(dir, 'link-secret')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readdirSync(dir)).toEqual(['link-secret'])
  chmodSync(file, 0o644)
  expect(await openSecret(dir)).toBe(made)
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('a damaged secret is reported, not replaced', async () => {
  writeFileSync(join(dir, 'link-secret'), 'short')
  await expect(openSecret(dir)).rejects.toThrow('damaged')
})
