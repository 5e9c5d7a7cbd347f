import { afterEach, beforeEach, expect, test } from 'bun:test'

import { zipSync } from 'fflate'

import { takeDown } from '../../apps/moderation/moderation.ts'
import { closeWithoutErrors } from '../../testing/fixtures/closed-servers.ts'
import { folder, publishPack, skillText, steps } from '../../testing/fixtures/folders.ts'
import {
  alertText,
  claimAgent,
  type FormBrowser,
  hiddenFields,
  signInOperator,
  signUp,
} from '../../testing/fixtures/form-browser.ts'
import { shownPage } from '../../testing/fixtures/shown-page.ts'
import {
  startTestServer,
  type TestAgent,
  type TestResponse,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'

let t: TestServer
let ann: TestAgent
let olga: FormBrowser

beforeEach(async () => {
  t = await startTestServer()
  ann = await t.agent('ann')
  olga = await signUp(t, 'olga')
  await claimAgent(olga, ann)
})
afterEach(() => closeWithoutErrors(t))

const pageOf = async (path: string): Promise<string> => {
  const { status, body } = await olga.open(path)
  expect([path, status]).toEqual([path, 200])
  return String(body)
}

/** Submits a form of a page with its hidden fields. */
async function submit(path: string, action: string, values: Record<string, string | Blob>) {
  const fields = { ...hiddenFields(await olga.read(path), action), ...values }
  const data = new FormData()
  for (const [name, value] of Object.entries(fields)) data.set(name, value)
  return olga.send(action, data)
}

const textOf = async (id: string, path: string): Promise<unknown> =>
  (await ann.call('GET', `/skills/${id}/files/${path}`)).body

/** The rows of steps of a form, each with its title and how one knows that it is done. */
const rows = (...all: string[][]): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: 8 }, (_, at) => all[at] ?? ['', '']).flatMap(
      ([title = '', done = ''], at) => [
        [`step-${at + 1}-id`, ''],
        [`step-${at + 1}-title`, title],
        [`step-${at + 1}-done`, done],
      ],
    ),
  )

const idIn = ({ headers }: TestResponse): string =>
  /studio\/([\w-]{12})\/files/.exec(headers.get('location') ?? '')?.[1] ?? ''

test('a person makes a skill, and a framework from a zip', async () => {
  const made = await submit('/new/skill', '/new/skill', {
    as: 'ann',
    kind: 'skill',
    skill: skillText('mine'),
  })
  expect(made.status).toBe(303)
  const id = idIn(made)
  expect(await textOf(id, 'SKILL.md')).toBe(skillText('mine'))
  const zip = new Blob([zipSync({ 'a/SKILL.md': new TextEncoder().encode(skillText('two')) })])
  const values = { as: 'ann', kind: 'framework', file: zip, ...rows(['First', 'It is there.']) }
  const other = idIn(await submit('/new/skill', '/new/skill', values))
  const { body } = await ann.call('GET', `/frameworks/${other}`)
  expect(body).toMatchObject({ framework: { steps: [{ id: 'first', done: 'It is there.' }] } })
  for (const wrong of [
    { kind: 'skill', skill: '# none' },
    { kind: 'framework', skill: skillText('three'), ...rows(['No way to know it', '']) },
    { kind: 'framework', skill: skillText('four'), ...rows(['', '']) },
    { kind: 'skill', file: new Blob(['no zip']) },
  ]) {
    const response = await submit('/new/skill', '/new/skill', { as: 'ann', ...wrong })
    expect(response.status).toBe(400)
    expect(alertText(response)).not.toBe('')
  }
})

test('the studio edits, adds and deletes files', async () => {
  const id = await publishPack(ann, folder())
  const files = `/studio/${id}/files`
  const edited = skillText().replace('List each', 'Explain each')
  await submit(files, `/studio/${id}/file`, { path: 'SKILL.md', text: edited, note: 'Clearer' })
  expect(await textOf(id, 'SKILL.md')).toBe(edited)
  await submit(files, `/studio/${id}/file`, { path: 'references/new.md', text: '# New\n' })
  expect(await textOf(id, 'references/new.md')).toBe('# New\n')
  await submit(`${files}?file=references%2Fnew.md`, `/studio/${id}/unfile`, {
    path: 'references/new.md',
  })
  const { body } = await ann.call('GET', `/skills/${id}/versions`)
  expect(body).toMatchObject({ versions: [{ version: 4 }, {}, { note: 'Clearer' }, {}] })
  const stale = await submit(files, `/studio/${id}/file`, {
    path: 'SKILL.md',
    text: skillText(),
    version: '1',
  })
  expect(alertText(stale)).toContain('Version 4 is the newest')
  // The page with the error does not lead to an overwrite.
  const action = `/studio/${id}/file`
  expect(hiddenFields(String(stale.body), action)).toMatchObject({ version: '1' })
  const tone = `${files}?file=references%2Ftone.md`
  const kept = await submit(tone, `/studio/${id}/unfile`, { version: '1' })
  expect(alertText(kept)).toContain('Version 4 is the newest')
  expect(String(kept.body)).toContain('>\n# Style')
  const unnamed = await submit(files, `/studio/${id}/file`, { path: ' ', text: 'a' })
  expect(alertText(unnamed)).toContain('path')
  const bare = await submit(tone, `/studio/${id}/unfile`, { path: 'SKILL.md' })
  expect(alertText(bare)).toContain('SKILL.md')
  const wrong = await submit(files, `/studio/${id}/file`, { path: '../evil.md', text: 'a' })
  expect(wrong.status).toBe(400)
  expect(alertText(wrong)).toContain('is invalid')
})

test('every tab works, and those of apps are not there', async () => {
  const id = await publishPack(ann, { ...folder(), steps }, 'framework')
  for (const tab of ['', '/files', '/versions', '/listing', '/safety']) {
    expect(await pageOf(`/studio/${id}${tab}`)).not.toContain(`/a/${id}`)
  }
  for (const tab of ['/code', '/assets']) {
    expect((await olga.open(`/studio/${id}${tab}`)).status).toBe(404)
  }
  const { fields } = (await olga.show(`/studio/${id}/files`)).form(`/studio/${id}/file`)
  await submit(`/studio/${id}/files`, `/studio/${id}/file`, { ...fields, note: 'The same.' })
  const { body } = await ann.call('GET', `/frameworks/${id}`)
  expect(body).toMatchObject({ framework: { version: 2, steps } })
  await submit(`/studio/${id}/listing`, `/studio/${id}/explore`, { store: 'yes' })
  expect(await pageOf(`/explore/${id}`)).toContain('release-notes')
  await submit(`/studio/${id}/versions`, `/studio/${id}/restore`, { version: '1' })
  await submit(`/studio/${id}/listing`, `/studio/${id}/delete`, {})
  expect((await ann.call('GET', `/frameworks/${id}`)).status).toBe(404)
  await submit(`/studio/${id}`, `/studio/${id}/undelete`, {})
  expect((await ann.call('GET', `/frameworks/${id}`)).body).toMatchObject({ version: 3 })
})

test('the studio publishes a file with the steps of its rows in one version', async () => {
  const [first, second] = [
    { id: 'draft', title: 'Draft it', done: 'There is a draft.' },
    { id: 'send', title: 'Send it', done: 'It arrived.' },
  ]
  const id = await publishPack(ann, { ...folder(), steps: [first, second] }, 'framework')
  const files = `/studio/${id}/files`
  const form = (await olga.show(files)).form(`/studio/${id}/file`)
  expect(form.fields).toMatchObject({
    'step-1-id': first.id,
    'step-2-title': second.title,
    'step-5-title': '',
  })
  const text = skillText().replace('List each', 'Explain each')
  const added = ['Übung für A & B', 'It rings.']
  await submit(files, `/studio/${id}/file`, {
    text,
    // The first row is empty and the third is new: this deletes a step, and adds others.
    ...rows(['', ''], [second.title, 'Done.'], added, added, ['提醒', '完成']),
    'step-2-id': second.id,
  })
  const { body } = await ann.call('GET', `/frameworks/${id}`)
  const [title, done] = added
  expect(body).toMatchObject({
    framework: {
      version: 2,
      steps: [
        { ...second, done: 'Done.' },
        { id: 'ubung-fur-a-b', title, done },
        { id: 'ubung-fur-a-b-2', title, done },
        { id: 'step-5', title: '提醒' },
      ],
    },
  })
  expect((await ann.call('GET', `/frameworks/${id}/files/SKILL.md`)).body).toBe(text)
  const wrong = await submit(files, `/studio/${id}/file`, { text, ...rows(['A'], ['B', 'b']) })
  expect(alertText(wrong)).toBe('Step 1 needs a title, and how one knows that it is done.')
  expect(shownPage(wrong.body).form(`/studio/${id}/file`).fields).toMatchObject({
    'step-1-title': 'A',
    'step-2-done': 'b',
  })
  const none = await submit(files, `/studio/${id}/file`, { text, ...rows() })
  expect(alertText(none)).toBe('Enter at least one step.')
  expect((await ann.call('GET', `/frameworks/${id}`)).body).toMatchObject({ version: 2 })
})

test('the form that adds a file is a page of its own, and keeps what was typed', async () => {
  const id = await publishPack(ann, folder())
  const files = `/studio/${id}/files`
  expect((await olga.show(files)).allByRole('textbox', /^Path/)).toEqual([])
  const wrong = await submit(`${files}?add`, `/studio/${id}/file`, { path: '../a.md', text: 'a' })
  const form = shownPage(wrong.body).form(`/studio/${id}/file`)
  expect(form.fields).toMatchObject({ path: '../a.md', text: 'a' })
})

test('the console shows the source of a pack and takes it down', async () => {
  const id = await publishPack(ann, { ...folder(), store: true })
  const operator = await signInOperator(t, 'root')
  const shown = (path: string): Promise<string> => operator.read(path)
  expect(await shown(`/console/apps/${id}`)).toContain(`/console/apps/${id}/files?version=1`)
  await takeDown(t.ctx, id, 'malware', 'operator')
  const source = await shown(`/console/apps/${id}/files?version=1&file=scripts%2Flist.sh`)
  expect(source).toContain('git log --oneline')
  expect((await t.request('GET', `/skills/${id}.tar.gz`)).status).toBe(410)
  const again = await ann.call('POST', '/skills', folder('release-notes'))
  expect([again.status, again.code]).toEqual([422, 'blocked_by_scan'])
})

test('a person who read a pack may review it', async () => {
  const ben = await t.agent('ben')
  const id = await publishPack(ben, { ...folder(), store: true })
  expect(await pageOf(`/explore/${id}`)).not.toContain(`/a/${id}`)
  const review = { as: 'ann', stars: '4', text: 'Clear.' }
  await submit(`/explore/${id}`, `/explore/${id}/review`, review)
  const { body } = await t.call('GET', `/explore/${id}`)
  expect(body).toMatchObject({ rating: { stars: 4, count: 1 } })
  const card = await t.request('GET', `/cards/${id}.jpg`)
  expect(card.status).toBe(200)
})
