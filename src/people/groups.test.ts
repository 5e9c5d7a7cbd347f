import { expect, spyOn, test } from 'bun:test'

import { expectError } from '../testing/expect-error.ts'
import { createTestPerson, createTestSession } from '../testing/fixtures/people.ts'
import { startTestServer } from '../testing/fixtures/test-server.ts'
import { findGroupsOf, setProvidedGroups } from './groups.ts'
import { deletePerson } from './people.ts'

test('the operator sets groups, and the sign-in provider adds its own', async () => {
  const t = await startTestServer()
  const olga = await createTestPerson(t, 'olga')
  const stan = await createTestPerson(t, 'stan')
  const { becomeOperator, operatorLink } = await import('./people.ts')
  const code = (await operatorLink(t.ctx))?.split('/').at(-1) ?? ''
  await becomeOperator(t.ctx, olga.person, code)
  const { cookie } = await createTestSession(t, olga)
  const call = (method: string, path: string, body?: unknown) =>
    t.call(method, path, { headers: { cookie }, body })
  const list = async () => (await call('GET', '/operator/groups')).body

  const set = (group: string, people: string[]) =>
    call('PUT', `/operator/groups/${encodeURIComponent(group)}`, { people })
  expect((await set('design', ['stan', 'olga', 'stan'])).status).toBe(200)
  await setProvidedGroups(t.ctx, stan.person.id, ['/staff', 'design'])
  expect(await list()).toEqual({
    groups: [
      { name: '/staff', people: [], provided: 1 },
      { name: 'design', people: ['olga', 'stan'], provided: 1 },
    ],
  })
  await set('design', [])
  await setProvidedGroups(t.ctx, stan.person.id, ['design'])
  expect(await findGroupsOf(t.ctx.db.read, stan.person.id, ['design', '/staff'])).toEqual([
    'design',
  ])

  await expectError(t, 400, 'bad_request', () => set('design', ['nobody-here']))
  await expectError(t, 400, 'bad_request', () => set('<b>', ['stan']))
  await expectError(t, 400, 'bad_request', () => call('PUT', '/operator/groups/x', {}))
  const other = (await createTestSession(t, stan)).cookie
  await expectError(t, 404, 'not_found', () =>
    t.call('GET', '/operator/groups', { headers: { cookie: other } }),
  )
  await t.ctx.db.tx((db) => deletePerson(db, stan.person.id))
  expect(await list()).toEqual({ groups: [] })
  await t.close()
})

test('open pages hear of a sign-in only when the provider names fewer groups', async () => {
  const t = await startTestServer()
  const { person } = await createTestPerson(t, 'stan')
  const announce = spyOn(t.ctx.state.accessChanges, 'announce')
  await setProvidedGroups(t.ctx, person.id, ['design'])
  await setProvidedGroups(t.ctx, person.id, ['design'])
  await setProvidedGroups(t.ctx, person.id, ['design', 'staff'])
  expect(announce).not.toHaveBeenCalled()
  await setProvidedGroups(t.ctx, person.id, ['staff'])
  expect(announce.mock.calls).toEqual([[person.id]])
  await t.close()
})
