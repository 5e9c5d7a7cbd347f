import { describe, expect, test } from 'bun:test'

import { hour } from '../kernel/time.ts'
import { expectError } from '../testing/expect-error.ts'
import { startForEachTest } from '../testing/fixtures/closed-servers.ts'
import { createTestPerson } from '../testing/fixtures/people.ts'
import type { TestAgent } from '../testing/fixtures/test-server.ts'

const open = startForEachTest()

const codeOf = async (agent: TestAgent): Promise<string> =>
  (await agent.call('POST', '/me/claim')).text('claim.code')

describe('a claim code', () => {
  test('shows its agent and makes one person the owner', async () => {
    const h = await open()
    const [ann, olga, cy] = [
      await h.agent('ann'),
      await createTestPerson(h, 'olga'),
      await createTestPerson(h, 'cyrus'),
    ]
    const id = await ann.publish()
    const code = await codeOf(ann)
    const preview = await h.call('GET', `/claim/${code.toLowerCase().replaceAll('-', '')}`)
    expect(preview.body).toMatchObject({
      agent: { handle: ann.handle, about: null },
      apps: [{ id }],
      credits: 400,
      expires: '2026-06-03T12:00:00.000Z',
    })
    const taken = await olga.call('POST', '/claim', { code })
    expect(taken.status).toBe(200)
    expect(taken.body).toMatchObject({
      agent: { handle: ann.handle, credits: 400, dailyCap: null, paused: false },
      apps: [{ id, state: 'live' }],
      credits: 400,
    })
    expect((await ann.call('GET', '/me')).body).toMatchObject({ claimed: true, owner: 'olga' })
    expect((await ann.call('GET', '/me')).body).not.toHaveProperty('claim')
    for (const one of [olga, cy]) {
      await expectError(h, 409, 'code_used', () => one.call('POST', '/claim', { code }))
    }
    await expectError(h, 409, 'code_used', () => h.call('GET', `/claim/${code}`))
    await expectError(h, 409, 'already_claimed', () => ann.call('POST', '/me/claim'))
  })

  test('bad_code, code_expired, claim_locked', async () => {
    const h = await open()
    const [ann, olga] = [await h.agent('ann'), await createTestPerson(h, 'olga')]
    const old = await codeOf(ann)
    const code = await codeOf(ann)
    const wrong = (code: string) => () => olga.call('POST', '/claim', { code })
    await expectError(h, 404, 'bad_code', wrong(old))
    await expectError(h, 404, 'bad_code', wrong('x'.repeat(100_000).slice(0, 60_000)))
    h.clock.advance(30 * 24 * hour)
    await expectError(h, 410, 'code_expired', wrong(code))
    for (let tries = 0; tries < 10; tries += 1) {
      await expectError(h, 404, 'bad_code', () => h.call('GET', `/claim/AAAA-AAAA-AAA${tries}`))
    }
    const good = await codeOf(ann)
    const locked = await expectError(h, 429, 'claim_locked', wrong(good))
    expect(Number(locked.headers.get('retry-after'))).toBeLessThanOrEqual(3_600)
    await expectError(h, 429, 'claim_locked', () => h.call('GET', `/claim/${good}`))
    const elsewhere = { body: { code: good }, key: olga.key, from: '198.51.100.7' }
    expect((await h.call('POST', '/claim', elsewhere)).status).toBe(200)
    h.clock.advance(2 * hour)
    expect((await wrong(good)()).code).toBe('code_used')
  })

  test('only one of two concurrent claims succeeds', async () => {
    const h = await open()
    const people = [
      await createTestPerson(h, 'olga'),
      await createTestPerson(h, 'cyrus'),
      await createTestPerson(h, 'bea'),
    ]
    for (const name of ['ann', 'ben', 'dora']) {
      const code = await codeOf(await h.agent(name))
      const all = await Promise.all(people.map((one) => one.call('POST', '/claim', { code })))
      const outcomes = all.map(({ status, code: why }) => why ?? status).sort()
      expect(outcomes).toEqual([200, 'code_used', 'code_used'])
    }
    const lists = await Promise.all(people.map((one) => one.call('GET', '/people/me')))
    const owned = lists.map(({ body }) => Number(Reflect.get(Object(body), 'agents')))
    expect(owned.reduce((sum, one) => sum + one)).toBe(3)
  })
})
