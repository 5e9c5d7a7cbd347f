import { afterEach, beforeEach, expect, test } from 'bun:test'

import { day } from '../../kernel/time.ts'
import { skillText } from '../../testing/fixtures/folders.ts'
import { claimAgent, signUp } from '../../testing/fixtures/form-browser.ts'
import { publishPackOnExplore } from '../../testing/fixtures/packs-on-explore.ts'
import { createTestPerson } from '../../testing/fixtures/people.ts'
import { shownPage } from '../../testing/fixtures/shown-page.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'

let t: TestServer
let ann: TestAgent
let ben: TestAgent
let pack: string

beforeEach(async () => {
  t = await startTestServer()
  ;[ann, ben] = [await t.agent('ann'), await t.agent('ben')]
  pack = await publishPackOnExplore(ann)
  t.clock.advance(2 * day)
})
afterEach(() => t.close())

const as = (method: string, path: string, body?: unknown) =>
  t.call(method, path, { key: ben.key, body, from: '198.51.100.7' })

async function pageOf(path: string, status = 200): Promise<string> {
  const response = await t.request('GET', path, { headers: { accept: 'text/html' } })
  expect(response.status).toBe(status)
  return shownPage(response.body).text
}

async function report(outcome: string, summary = 'It printed <b>42</b>.'): Promise<string> {
  const id = (await as('POST', '/runs', { pack, goal: 'My plan' })).text('run.id')
  const evidence = [{ kind: 'text', value: 'The log <i>ends</i>.' }]
  await as('POST', `/runs/${id}/steps`, { step: 'first', state: 'done', note: 'Only for us' })
  await as('POST', `/runs/${id}/report`, { outcome, summary, minutes: 7, evidence })
  return id
}

test('a pack without runs says so', async () => {
  const page = await pageOf(`/explore/${pack}`)
  expect(page).toContain('No agent has followed this yet.')
  expect(page).not.toContain('score from')
})

test('the studio shows the record of a pack, and before it the next step', async () => {
  const olga = await signUp(t, 'olga')
  await claimAgent(olga, ann)
  const empty = await olga.show(`/studio/${pack}`)
  expect(empty.text).toContain('Nobody has used it yet')
  expect(empty.text).toContain(`http://localhost:3000/skills/${pack}`)
  await report('worked')
  const { text } = await olga.show(`/studio/${pack}`)
  expect(text).toContain('score from 1 counted run')
  expect(text).toContain('Loads')
  expect(text).toContain('It printed <b>42</b>.')
  expect(text).not.toContain('Nobody has used it yet')
})

test('a record has its denominator, the graph, versions and reports as text', async () => {
  await report('worked')
  t.clock.advance(day)
  await ann.call('POST', `/skills/${pack}/versions`, { skill: `${skillText('release-notes')}New.` })
  await report('failed', 'It stopped.')
  const page = await pageOf(`/explore/${pack}`)
  expect(page).toContain('score from 2 counted runs')
  expect(await pageOf('/explore?kind=skill')).toContain('Score 50% from 2 counted runs')
  expect(page).toContain('at least 9% (95% interval)')
  expect(page).toContain('1 of 2 counted runs of the last 90 days worked')
  expect(page).toContain('Version 2')
  expect(page).toContain('It printed <b>42</b>.')
  expect(await pageOf('/explore/@ann')).toContain('Score 50% from 2 counted runs')
})

test('a run is a page: public in part, whole for the owners', async () => {
  const id = await report('partly')
  const page = await pageOf(`/runs/${id}`)
  expect(page).toContain('Partly worked')
  expect(page).toContain('The log <i>ends</i>.')
  expect(page).not.toMatch(/My plan|Only for us/)
  await pageOf('/runs/AAAAAAAAAAAA', 404)
  const open = (await as('POST', '/runs', { pack })).text('run.id')
  await pageOf(`/runs/${open}`, 404)
  const olga = await createTestPerson(t, 'olga')
  const code = (await as('POST', '/me/claim')).text('claim.code')
  await olga.call('POST', '/claim', { code })
  const { runPage } = await import('./run-page.ts')
  const own = await runPage(t.ctx, id, olga.person)
  // What was to be done and how stands before the evidence of it.
  expect(shownPage(own.main.text).text).toMatch(
    /My plan.*first.*Done.*Only for us.*Evidence.*Text.*The log <i>ends<\/i>/,
  )
  expect((await runPage(t.ctx, open, olga.person)).main.text).toContain('Running')
  const pat = await createTestPerson(t, 'pat')
  expect((await runPage(t.ctx, id, pat.person)).main.text).not.toContain('My plan')
})

test('goal and step notes are for both owners and the operator; the report needs Explore', async () => {
  const id = await report('worked', 'It printed 42.')
  const people = await Promise.all(['olga', 'mona', 'pat'].map((name) => createTestPerson(t, name)))
  const [olga, mona, pat] = people.map(({ person }) => person)
  const cy = await t.agent('cyd')
  await cy.call('POST', '/runs', { pack })
  for (const [at, agent] of [ben, ann, cy].entries()) {
    const code = (await agent.call('POST', '/me/claim')).text('claim.code')
    await people[at]?.call('POST', '/claim', { code })
  }
  const { runPage } = await import('./run-page.ts')
  const read = async (person = pat) => (await runPage(t.ctx, id, person)).main.text
  const operator = pat && { ...pat, operator: true }
  for (const reader of [olga, mona, operator])
    expect(await read(reader)).toMatch(/My plan[^]*Only for us/)
  // Pat owns another agent that follows the same pack.
  for (const page of [await read(), await pageOf(`/runs/${id}`)]) {
    for (const shown of ['@ben', 'Worked', 'It printed 42.', '7 min', 'The log']) {
      expect(page).toContain(shown)
    }
    expect(page).not.toMatch(/My plan|Only for us|Goal|Steps/)
  }
  await ann.call('PATCH', `/skills/${pack}`, { store: false })
  expect(await read(mona)).toContain('My plan')
  await expect(read()).rejects.toMatchObject({ errorName: 'run_not_found' })
  await pageOf(`/runs/${id}`, 404)
})
