/** The operator of a server, and cases that wait for a decision. */
import type { Browser, Locator, Page } from 'playwright-core'

import { asRecord, type BerthServer } from '../bench/load/served.ts'
import { signUp } from './owner.ts'

const press = (page: Page, name: string) => page.getByRole('button', { name }).first().click()

/** Decides about the app of a page in the dialog of the decision. */
async function decide(page: Page, name: string, reason: string): Promise<void> {
  await press(page, name)
  const dialog = page.getByRole('dialog', { name })
  await dialog.getByLabel('Reason').fill(reason)
  await dialog.getByRole('button', { name, exact: true }).click()
}

/** Returns the path at which the operator creates an account. */
export const operatorPath = ({ readyLine }: BerthServer): string =>
  new URL(String(asRecord(JSON.parse(readyLine))['operatorUrl'])).pathname

/** Creates the operator and cases. Returns the session and the items of the cases. */
export async function fillConsole(browser: Browser, ctx: BerthServer) {
  const at = `http://localhost:${ctx.port}`
  const state = await signUp(browser, at, { name: 'opal', path: operatorPath(ctx) })
  const handle = 'quick-cash'
  const key = String((await ctx.call('POST', '/keys', { handle }))['key'])
  const publish = async (title: string): Promise<string> => {
    const html = `<!doctype html><title>${title}</title><h1>${title}</h1>`
    const made = await ctx.call('POST', '/apps', { html, title }, key)
    return String(asRecord(made['app'])['id'])
  }
  const reported = await publish('Sign in to your bank again')
  const down = await publish('Coin Farm')
  const text = 'It asks for the password of my bank.\nThe address bar says something else.'
  const contact = 'me@example.org'
  await ctx.call('POST', '/report', { item: reported, reason: 'phishing', text, contact })
  await ctx.call('POST', '/report', { item: down, reason: 'malware', text: 'It is slow.' })

  const context = await browser.newContext({ storageState: state })
  const page = await context.newPage()
  await page.goto(`${at}/console/apps/${reported}`)
  await decide(page, 'Quarantine', 'Needs a review first.')
  await page.goto(`${at}/console/apps/${down}`)
  await decide(page, 'Take down', 'It computes for others in the background.')
  await ctx.call('POST', `/apps/${down}/appeal`, { text: 'It only counts coins.' }, key)
  await page.goto(`${at}/console/backups`)
  await press(page, 'Create backup')
  await press(page, 'Verify')
  await page.getByText('The backup is valid').waitFor()
  const keys = await createKeys(page, at)
  await page.goto(`${at}/console/requests`)
  const request = page.locator('main td a[href^="/console/requests/"]').first()
  const requestPath = (await request.getAttribute('href')) ?? ''
  await context.close()
  return { state, handle, reported, down, keys, requestPath }
}

/** Creates a project and two keys of olga. Returns the paths of a key and of the project. */
async function createKeys(page: Page, at: string) {
  const account = `${at}/console/keys/olga`
  const open = async (form: string) => {
    await page.goto(account)
    await page.locator('summary', { hasText: form }).click()
    return page.locator('details', { hasText: form })
  }
  const fill = async (group: Locator, fields: Record<string, string>) => {
    for (const [label, text] of Object.entries(fields)) await group.getByLabel(label).fill(text)
  }
  const project = await open('New project')
  await fill(project, { Name: 'Harbour team', 'Monthly cap': '4000' })
  await project.getByRole('button').click()
  const note = 'Runs at two o’clock; ask Mia before a change.'
  const more = { 'Requests per minute': '60', Models: 'demo/chat\ndemo/o*', Note: note }
  for (const [name, limits] of [
    [
      'nightly evaluations',
      { 'Daily cap': '50', 'Monthly cap': '900', ...more, Tags: 'ci\nnight' },
    ],
    ['assistant in the editor', {}],
  ] as const) {
    const key = await open('New API key')
    await key.getByText('More limits').click()
    await fill(key, { Name: name, ...limits })
    await key.getByLabel('Project').selectOption('Harbour team')
    await key.getByRole('button').click()
    await page.getByText('Save your API key').first().waitFor()
  }
  await page.goto(account)
  const link = page.getByRole('link', { name: 'nightly evaluations' })
  const team = page.getByRole('link', { name: 'Harbour team' })
  return {
    key: (await link.getAttribute('href')) ?? '',
    project: (await team.getAttribute('href')) ?? '',
  }
}

const lists = [
  'requests',
  'latency',
  'alerts',
  'spend',
  'errors',
  'queue',
  'agents',
  'people',
  'clients',
  'keys',
  'grants',
  'payments',
  'upstreams',
  'models',
  'libraries',
  'backups',
  'audit',
]

/** The pages of the console by the names of their screenshots. */
export const consolePages = (made: Awaited<ReturnType<typeof fillConsole>>) => ({
  console: '/console',
  ...Object.fromEntries([...lists, 'settings'].map((at) => [`console-${at}`, `/console/${at}`])),
  'console-case': `/console/apps/${made.reported}`,
  'console-appeal': `/console/apps/${made.down}`,
  'console-agent': `/console/agents/${made.handle}`,
  'console-key-account': '/console/keys/olga',
  'console-key': made.keys.key,
  'console-project': made.keys.project,
  'console-request': made.requestPath,
  'console-setting': '/console/settings/HOME_TITLE',
  'console-model-price': '/console/models/price?model=demo%2Fchat',
  'console-person': '/console/people/olga',
  'console-confirm': `/console/grants?to=@${made.handle}&usd=5`,
  'console-nobody': '/console/agents?q=zeppelin',
})
