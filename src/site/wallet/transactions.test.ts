import { afterAll, expect, test } from 'bun:test'

import { type FormBrowser, signUp } from '../../testing/fixtures/form-browser.ts'
import { fund, getPerson } from '../../testing/fixtures/people.ts'
import type { Shown } from '../../testing/fixtures/shown-page.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'

const chat = { model: 'demo/chat', messages: [{ role: 'user', content: 'Ahoy' }], max_tokens: 5 }

const t = await startTestServer({ DAILY_CAP_CREDITS: '300' })
afterAll(() => t.close())

/** Creates a key of a wallet, with the form of the page. */
async function newKey(browser: FormBrowser): Promise<string> {
  const made = await browser.fill('/wallet', '/wallet/keys', { name: 'a' })
  return /gk_[A-Za-z0-9]{40}/.exec(String(made.body))?.[0] ?? ''
}

/** Returns the exact amount of a cell, which shows on hover. */
const exactAmountOf = (cell: Shown): string =>
  cell.allByText(cell.text)[0]?.attribute('title') ?? ''

test('pages the transactions', async () => {
  const dee = await signUp(t, 'deedee')
  expect(await dee.read('/wallet/ledger')).toContain('No transactions yet')
  await fund(t.ctx, await getPerson(t, 'deedee'), 1n)
  const key = await newKey(dee)
  for (let at = 0; at < 55; at += 1) {
    await t.request('POST', '/chat/completions', { key, body: chat, from: `192.0.2.${at}` })
  }
  const first = await dee.show('/wallet/ledger')
  expect(first.text).toContain('4 May 2026, 12:00 UTC chat demo/chat')
  // The amounts add up as they are shown.
  const column = (name: string): number[] =>
    first.column(name).map(({ text }) => Math.round(Number(text.replaceAll(',', '')) * 1e6))
  const [amounts, left] = [column('Credits'), column('Balance')]
  for (const [at, amount] of amounts.slice(0, -1).entries()) {
    expect(left[at]).toBe((left[at + 1] ?? 0) + amount)
  }
  expect(first.column('Type').filter(({ text }) => text.startsWith('chat'))).toHaveLength(50)
  const second = await dee.show(first.byRole('link', 'Show more').attribute('href') ?? '')
  expect(second.allByText('chat')).toHaveLength(5)
  expect(second.text).toContain('grant +1,000')
  expect((await dee.open('/wallet/ledger?cursor=odd')).status).toBe(400)
})

test('filters the transactions by date and exports them', async () => {
  const eva = await signUp(t, 'evangeline')
  await fund(t.ctx, await getPerson(t, 'evangeline'), 1n)
  const key = await newKey(eva)
  await t.request('POST', '/chat/completions', { key, body: chat })
  const today = 'from=2026-05-04&to=2026-05-04'
  const shown = await eva.show(`/wallet/ledger?${today}`)
  expect(shown.column('Type').map(({ text }) => text)).toEqual(['chat', 'grant'])
  expect(shown.hrefs).toContain(`/wallet/ledger.csv?${today}`)
  const csv = await eva.open(`/wallet/ledger.csv?${today}`)
  expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(String(csv.body)).toMatch(/^id,at,kind,credits,balance,ref,item\r\n2,2026-05-04T12:00/)
  expect((await eva.open('/wallet/ledger.csv?from=2026-05-05')).body).toBe(
    'id,at,kind,credits,balance,ref,item\r\n',
  )
  expect(await eva.read('/wallet/ledger?to=2026-05-03')).toContain('No matching transactions')
  for (const odd of ['ledger?from=yesterday', 'ledger.csv?to=2026-13-01'])
    expect((await eva.open(`/wallet/${odd}`)).status).toBe(400)
})

test('names the kinds of transactions in the language of their reader', async () => {
  const ida = await signUp(t, 'ida')
  await fund(t.ctx, await getPerson(t, 'ida'), 2n)
  expect((await ida.show('/wallet/ledger')).names('cell')).toContain('grant')
  ida.set('language', 'de')
  expect((await ida.show('/wallet/ledger')).names('cell')).toContain('Vergabe')
})

test('formats large amounts exactly', async () => {
  const max = await signUp(t, 'maximilian')
  await fund(t.ctx, await getPerson(t, 'maximilian'), 999_999n)
  const key = await newKey(max)
  await t.request('POST', '/chat/completions', { key, body: chat })
  const [left] = (await max.show('/wallet/ledger')).column('Balance')
  expect(left && exactAmountOf(left)).toMatch(
    /^999,998,999\.99\d{1,4} credits, \$999,998\.99999\d+$/,
  )
  expect(left?.text).toBe('999,998,999.9995')
  // The header adds the balance of the agent that came with the account.
  const balance = (await max.show('/wallet')).byRole('link', /^Balance: /)
  expect(balance.attribute('title')).toMatch(
    /^Your wallet and agents together: [\d,]+\.99\d{1,4} credits, \$[\d,.]+$/,
  )
})
