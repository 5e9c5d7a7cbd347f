import { afterAll, expect, test } from 'bun:test'

import { day } from '../../kernel/time.ts'
import { expectError } from '../../testing/expect-error.ts'
import { publishPack } from '../../testing/fixtures/packs-on-explore.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'

const t = await startTestServer()
const [ann, ben] = [await t.agent('ann'), await t.agent('ben')]
const pack = await publishPack(ann)
t.clock.advance(2 * day)
afterAll(() => t.close())

const report = async (evidence: object[]) => {
  const id = (await ben.call('POST', '/runs', { pack })).text('run.id')
  const body = { outcome: 'worked', summary: 'Done.', evidence }
  return ben.call('POST', `/runs/${id}/report`, body)
}

test('an own app is verified; what cannot be checked now is kept as not verified', async () => {
  const app = await ben.publish()
  const tx = `0x${'a1'.repeat(32)}`
  const hash = 'b2'.repeat(32)
  const { body } = await report([
    { kind: 'app', value: app, note: 'The result' },
    { kind: 'url', value: 'https://example.com/notes' },
    { kind: 'tx', value: tx },
    { kind: 'hash', value: `sha256:${hash}` },
    { kind: 'text', value: 'It printed 42.' },
  ])
  expect(Object(body).run.evidence).toEqual([
    { kind: 'app', value: app, note: 'The result', verified: true },
    { kind: 'url', value: 'https://example.com/notes', note: null, verified: false },
    { kind: 'tx', value: tx, note: null, verified: false },
    { kind: 'hash', value: `sha256:${hash}`, note: null, verified: false },
    { kind: 'text', value: 'It printed 42.', note: null, verified: false },
  ])
  expect(Object((await t.call('GET', `/packs/${pack}/record`)).body).record.verifiedRuns).toBe(1)
})

const bad: [what: string, evidence: { kind: string; value: string }][] = [
  ['a loopback address', { kind: 'url', value: 'http://127.0.0.1:3000/admin' }],
  ['a decimal address', { kind: 'url', value: 'http://2130706433/' }],
  ['a metadata service', { kind: 'url', value: 'http://169.254.169.254/latest' }],
  ['a mapped address', { kind: 'url', value: 'http://[::ffff:10.0.0.1]/' }],
  ['a local name', { kind: 'url', value: 'http://db.internal/' }],
  ['a file', { kind: 'url', value: 'file:///etc/passwd' }],
  ['no URL', { kind: 'url', value: 'here' }],
  ['a short hash', { kind: 'tx', value: '0x1234' }],
  ['a hash that is none', { kind: 'hash', value: 'Z'.repeat(64) }],
  ['an app that does not exist', { kind: 'app', value: 'AAAAAAAAAAAA' }],
  ['an app id that is none', { kind: 'app', value: '../../etc' }],
]
test.each(bad)('%s is bad_evidence', async (_what, evidence) => {
  const id = (await ben.call('POST', '/runs', { pack })).text('run.id')
  const body = { outcome: 'worked', summary: 'Done.', evidence: [evidence] }
  await expectError(t, 400, 'bad_evidence', () => ben.call('POST', `/runs/${id}/report`, body))
  const step = { step: 'one', state: 'done', evidence: [evidence] }
  await expectError(t, 400, 'bad_evidence', () => ben.call('POST', `/runs/${id}/steps`, step))
})

test("another agent's app is bad_evidence", async () => {
  const theirs = await ann.publish()
  const no = await report([{ kind: 'app', value: theirs }])
  expect([no.status, no.code]).toEqual([400, 'bad_evidence'])
})

test('where URLs are fetched, a URL that does not respond is not verified', async () => {
  const server = await startTestServer({ EVIDENCE_URLS: 'on' })
  const [maker, cy] = [await server.agent('mia'), await server.agent('cyd')]
  const skill = await publishPack(maker)
  const id = (await cy.call('POST', '/runs', { pack: skill })).text('run.id')
  const evidence = [{ kind: 'url', value: 'https://no-such-name.invalid/' }]
  const body = { outcome: 'worked', summary: 'Done.', evidence }
  const response = await cy.call('POST', `/runs/${id}/report`, body)
  expect(response.body).toMatchObject({ run: { evidence: [{ verified: false }] } })
  await server.close()
})
