import { afterAll, expect, test } from 'bun:test'

import { becomeOperator, operatorLink } from '../../people/people.ts'
import { createGatewayUser } from '../../testing/fixtures/gateway.ts'
import { createTestPerson, createTestSession } from '../../testing/fixtures/people.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { runCommand } from './control.ts'

const t = await startTestServer({ DEMO_MODELS: 'on' })
afterAll(() => t.close())

const run = async (line: string) => {
  const [command = '', ...words] = line.split(' ')
  return runCommand(t.ctx, { command, words })
}
const chatWith = (key: string) =>
  t.request('POST', '/v1/chat/completions', {
    key,
    body: { model: 'demo/chat', messages: [{ role: 'user', content: 'Hi.' }], max_tokens: 20 },
  })

test('keys of an account are listed, added, changed, rotated and revoked', async () => {
  const { creditId } = await createGatewayUser(t, '1')
  const made = await run(`keys add ${creditId} name=ci monthly_cap=500 models=demo/*,x/y tags=a,b`)
  expect(made).toMatchObject({ ok: true })
  const [key = ''] = made.text.split('\n')
  expect((await chatWith(key)).status).toBe(200)
  const id = key.slice(0, 11)
  const listed = await run(`keys list ${creditId}`)
  expect(listed.text).toContain(`${id}  name=ci  monthly_cap=500  models=demo/*,x/y  tags=a,b`)
  expect(listed.text).not.toContain(key)
  const changed = await run(`keys change ${creditId} ${id} monthly_cap=none models=x/y tags=none`)
  expect(changed.text).toMatch(new RegExp(`^${id}  name=ci  models=x/y  created=`))
  expect((await chatWith(key)).code).toBe('model_not_allowed')
  await run(`keys change ${creditId} ${id} models=none expires_at=2999-01-31`)
  const rotated = await run(`keys rotate ${creditId} ${id} overlap_hours=0`)
  const [replacement = ''] = rotated.text.split('\n')
  expect(rotated.text).toContain('expires_at=2999-01-31T00:00:00.000Z')
  expect((await chatWith(key)).code).toBe('key_expired')
  expect((await chatWith(replacement)).status).toBe(200)
  expect(await run(`keys revoke ${creditId} ${replacement.slice(0, 11)}`)).toMatchObject({
    ok: true,
  })
  expect((await chatWith(replacement)).status).toBe(401)
  const audit = await run(`admin audit ${creditId}`)
  expect(audit.text).toMatch(/command line {2}keys revoke/)
})

test('projects limit the keys that are in them', async () => {
  const { creditId } = await createGatewayUser(t, '1')
  const made = await run(`projects add ${creditId} name=team daily_cap=0`)
  const [id = ''] = made.text.split(' ')
  expect(made.text).toContain('name=team  daily_cap=0')
  const [key = ''] = (await run(`keys add ${creditId} project=${id}`)).text.split('\n')
  const rejected = await chatWith(key)
  expect([rejected.status, rejected.code]).toEqual([429, 'budget_exceeded'])
  expect(Object(rejected.body).error.message).toContain('project team')
  expect((await run(`projects change ${creditId} ${id} daily_cap=100`)).ok).toBe(true)
  expect((await chatWith(key)).status).toBe(200)
  expect((await run(`projects list ${creditId}`)).text).toMatch(/spent: 0\.\d+ today/)
  expect((await run(`projects remove ${creditId} ${id}`)).ok).toBe(true)
  expect((await run(`projects list ${creditId}`)).text).toBe('There are none.')
})

test('wrong words and fields change nothing, and the error names the right ones', async () => {
  const { creditId } = await createGatewayUser(t, '1')
  const before = await t.snapshot()
  for (const [line, text] of [
    ['keys', 'usage: berth keys list'],
    ['keys toString x', 'usage: berth keys list'],
    ['keys list nobody', 'account was not found'],
    [`keys add ${creditId} budget=5`, 'budget=5 is not a field'],
    [`keys add ${creditId} monthly_cap=much`, 'monthly_cap must be a number'],
    [`keys add ${creditId} project=AAAAAAAAAAAA`, 'project'],
    [`keys change ${creditId}`, 'usage: berth keys list'],
    [`keys rotate ${creditId} gk_AAAAAAAA`, 'key'],
    [`projects add ${creditId} daily_cap=5`, 'name is missing'],
  ] as const) {
    const result = await run(line)
    expect([line, result.ok]).toEqual([line, false])
    expect(result.text).toContain(text)
  }
  expect(await t.snapshot()).toEqual(before)
})

test('a command has the errors and the audit entries of its operation', async () => {
  const olga = await createTestPerson(t, 'olga')
  const code = (await operatorLink(t.ctx))?.split('/').at(-1) ?? ''
  await becomeOperator(t.ctx, olga.person, code)
  const { cookie } = await createTestSession(t, olga)
  const { creditId } = await createGatewayUser(t, '1')
  const calls = [
    ['keys add nobody name=ci', 'POST', '/accounts/nobody/keys', { name: 'ci' }],
    [
      `keys change ${creditId} gk_none name=x`,
      'PATCH',
      `/accounts/${creditId}/keys/gk_none`,
      { name: 'x' },
    ],
    [`keys revoke ${creditId} gk_none`, 'DELETE', `/accounts/${creditId}/keys/gk_none`, undefined],
    [
      `projects remove ${creditId} none`,
      'DELETE',
      `/accounts/${creditId}/projects/none`,
      undefined,
    ],
    ['grant nobody 5', 'POST', '/grants', { to: 'nobody', usd: '5' }],
    ['grant olga much', 'POST', '/grants', { to: 'olga', usd: 'much' }],
    ['libraries remove none@1.0.0', 'POST', '/libraries/remove', { library: 'none@1.0.0' }],
  ] as const
  for (const [line, method, path, body] of calls) {
    const sent = await t.call(method, `/operator${path}`, { body, headers: { cookie } })
    expect([line, await run(line)]).toEqual([line, { ok: false, text: sent.text('error') }])
  }
  await run(`keys add ${creditId} name=ci`)
  const body = { name: 'ci' }
  await t.call('POST', `/operator/accounts/${creditId}/keys`, { body, headers: { cookie } })
  const entries = (await run(`admin audit ${creditId}`)).text.split('\n')
  const known = entries.map((entry) => /(olga|command line) {2}keys add/.exec(entry)?.[1])
  expect(known.toSorted()).toEqual(['command line', 'olga'])
})
