import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import ts from 'typescript'

import { findForPages } from '../browsers/browser.ts'
import { type BrowserSession, openServedSession } from '../browsers/session.ts'
import type { TestServer } from '../fixtures/test-server.ts'

const ms = 120_000
const guide = readFileSync(join(import.meta.dir, '../../../docs/apps.md'), 'utf8')

/** The examples of the guide, by the heading above them. */
const examples = [...guide.matchAll(/^```(html|js)\n(.*?)^```/gms)].map(
  ([whole, kind = '', text = ''], at): [name: string, kind: string, text: string] => {
    const before = guide.slice(0, guide.indexOf(whole))
    const heading = before.slice(before.lastIndexOf('\n#')).split('\n')[1]
    return [`${at + 1}, ${heading?.replace(/^#+ /, '')}`, kind, text]
  },
)

/** Names that an example takes from the page around it. */
const standIns = `
const names = ['draw', 'addShip', 'removeShip', 'steer', 'jump', 'setFire', 'showGoal']
for (const name of names) self[name] = () => undefined
self.seeded = (seed) => () => seed / 2 ** 32
self.points = 7
self.blob = new Blob([Uint8Array.from(atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='), (c) => c.charCodeAt(0))])
const show = (text) => { document.querySelector('output').textContent ||= text }
addEventListener('unhandledrejection', ({ reason }) => show('failed: ' + (reason?.message ?? reason)))
addEventListener('error', ({ message }) => show('failed: ' + message))
`

const types = readFileSync(join(import.meta.dir, '../../../public/bridge/service-types.ts'), 'utf8')

const options = {
  strict: true,
  noEmit: true,
  types: [],
  skipDefaultLibCheck: true,
  lib: ['lib.esnext.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.ESNext,
}

/** Parses the types of the browser once: that takes longer than all checks. */
const host = ts.createCompilerHost(options)
const { getSourceFile } = host
const libraries = new Map<string, ts.SourceFile | undefined>()
host.getSourceFile = (path, ...how) => {
  if (!path.includes('/lib.')) return getSourceFile(path, ...how)
  if (!libraries.has(path)) libraries.set(path, getSourceFile(path, ...how))
  return libraries.get(path)
}

/** Checks modules beside service.d.ts, and returns the errors. */
function checkTypes(modules: string[]): string[] {
  const dir = mkdtempSync(join(tmpdir(), 'berth-types-'))
  const write = (name: string, text: string): string => {
    writeFileSync(join(dir, name), text)
    return join(dir, name)
  }
  const paths = [
    write('service.d.ts', types),
    ...modules.map((text, at) => write(`${at}.ts`, `export {}\n${text}`)),
  ]
  const found = ts.getPreEmitDiagnostics(ts.createProgram(paths, options, host))
  rmSync(dir, { recursive: true })
  return found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
}

test(
  'the examples pass a type check with /service.d.ts, and what is not there does not',
  () => {
    const functions = ['draw', 'addShip', 'removeShip', 'steer', 'jump', 'setFire', 'showGoal']
    const around = [
      ...functions.map((name) => `declare function ${name}(...given: unknown[]): void`),
      'declare function seeded(seed: number): () => number',
      'declare const points: number',
      'declare const blob: Blob',
    ].join('\n')
    const bridge = examples.filter(([, kind, text]) => kind === 'js' && text.includes('service.'))
    expect(checkTypes(bridge.map(([, , text]) => `${around}\n${text}`))).toEqual([])
    const wrong = ['service.mail', 'service.store.set(1, 2)', "service.ai.chat('', { teer: 1 })"]
    expect(checkTypes(wrong)).toHaveLength(wrong.length)
  },
  ms,
)

test('the guide and /service.d.ts have the same codes of errors', () => {
  const [table = ''] = /^\| Code \| Meaning \|\n[^]*?\n\n/m.exec(guide) ?? []
  const listed = [...table.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, codes = '']) =>
    codes.split(', '),
  )
  const [union = ''] = /type ErrorCode =[^]*?\n\n/.exec(types) ?? []
  const declared = [...union.matchAll(/'(\w+)'/g)].map(([, code]) => `\`${code}\``)
  expect(declared).toEqual(listed)
})

describe.skipIf(findForPages('chromium') === undefined)('the examples of docs/apps.md', () => {
  let t: TestServer
  let session: BrowserSession & { t: TestServer }

  beforeAll(async () => {
    session = await openServedSession()
    ;({ t } = session)
  }, ms)
  afterAll(() => session.close())

  /** Publishes a page, whose maker pays for models. */
  async function publish(html: string): Promise<string> {
    const ann = await t.agent('ann')
    const id = await ann.publish({ html })
    await ann.call('PUT', `/apps/${id}/sponsor`, { dailyCap: 300, playerDailyCap: 300 })
    return id
  }

  /** Opens an app as a guest who has agreed to share data. */
  async function open(id: string) {
    const page = await session.browser.newPage()
    await page.goto(`${session.origin}/robots.txt`)
    await page.evaluate(
      `fetch('/api/apps/${id}/player', { method: 'POST',
        headers: { 'content-type': 'application/json' }, body: '{"name":"Ada"}' }).then(({ ok }) => ok)`,
    )
    await page.goto(`${session.origin}/a/${id}`)
    return page
  }

  test.each(examples)(
    'example %s, runs as it is',
    async (_, kind, text) => {
      const page = await open(
        await publish(
          kind === 'html'
            ? text.replace('</title>', `</title><script>${standIns}</script><output></output>`)
            : `<!doctype html><title>Example</title><output></output><script>${standIns}</script>
               <script type="module">${text}\n;show('ran')</script>`,
        ),
      )
      const frame = page.frameLocator('iframe')
      await page.waitForLoadState()
      if (kind === 'js') {
        // The shell shows the board until the player closes it.
        const close = page.getByRole('dialog').getByRole('button', { name: 'Close' })
        if (text.includes('scores.show')) await close.click()
        const output = frame.locator('output')
        await output.filter({ hasText: /./ }).waitFor()
        expect(await output.textContent()).toBe('ran')
      } else expect(await frame.locator('output').textContent()).toBe('')
      await page.close()
    },
    ms,
  )

  test(
    'all that a page finds in service is in /service.d.ts',
    async () => {
      const uses = ['ai', 'store', 'db', 'room', 'scores', 'files']
      const page = await open(
        await publish(`<!doctype html><title>All</title><output></output><script>
          service.ai; service.files
          const found = { ...service, collection: service.db.collection('a'), doc: service.db.doc('a/1') }
          document.querySelector('output').textContent = JSON.stringify(Object.entries(found)
            .map(([part, members]) => [part, Object.keys(members)]))
        </script>`),
      )
      const output = page.frameLocator('iframe').locator('output')
      const found: [part: string, members: string[]][] = JSON.parse(
        (await output.filter({ hasText: /./ }).textContent()) ?? '',
      )
      const parts = new Map(found)
      const at = (part: string): string =>
        ({ collection: `db.collection('a')`, doc: `db.doc('a/1')` })[part] ?? part
      const lines = [...uses, 'collection', 'doc'].flatMap((part) =>
        (parts.get(part) ?? []).map((member) => `void service.${at(part)}.${member}`),
      )
      expect(lines.length).toBeGreaterThan(30)
      expect(checkTypes([lines.join('\n')])).toEqual([])
      const served = await t.request('GET', '/service.d.ts')
      expect(served.headers.get('content-type')).toBe('text/plain; charset=utf-8')
      expect(served.body).toBe(types)
      expect((await t.request('GET', '/skill.md')).body).toContain('/service.d.ts')
      await page.close()
    },
    ms,
  )

  test(
    'the oracle of the guide answers what the player asks',
    async () => {
      const [, , text] =
        examples.find(([, kind, one]) => kind === 'html' && one.includes('oracle')) ?? []
      const page = await open(await publish(text ?? ''))
      const frame = page.frameLocator('iframe')
      await frame.getByPlaceholder('Ask the oracle').fill('Will it rain?')
      await frame.getByRole('button', { name: 'Ask' }).click()
      await frame.locator('p').filter({ hasText: 'Will it rain?' }).waitFor()
      await page.close()
    },
    ms,
  )
})
