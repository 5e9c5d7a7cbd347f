/** Errors of pages in each browser, which say and place them in other ways. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { sharedBrowsers } from '../../testing/browsers/all-browsers.ts'
import { type Browser, findForPages } from '../../testing/browsers/browser.ts'
import { serve } from '../../testing/fixtures/serve.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'
import { until } from '../../testing/until.ts'

const ms = 180_000

const broken = `<!doctype html><title>Broken</title>
<script>console.error('lost', { secret: 1 })</script>
<script>
  const fail = async () => { throw new RangeError('far') }
  fail()
</script>
<script>missing()</script>
<script>new Worker(URL.createObjectURL(new Blob(['throw new Error("in a worker")'])))</script>
<script type="module">throw new TypeError('in a module')</script>
<script>
  const code = \`console.error('lost in a worker', { secret: 1 })
    Promise.reject(new RangeError('far in a worker'))\`
  for (const type of ['classic', 'module'])
    new Worker(URL.createObjectURL(new Blob([code])), { type })
</script>`

/** Most pages have one script. */
const single = `<!doctype html><title>Single</title>\r\n<p id=out></p>\r\n
<script>
  'use strict'
  addEventListener('load', () => { out.textContent += ' loaded' }, true)
  const tick = () => {
    out.textContent = [document.readyState, document.scripts.length, document.scripts[0].src].join()
    setTimeout(() => { throw new RangeError('in a timer') })
    missing()
  }
  tick()
</script>
<script>out.textContent += ' second'; setTimeout(() => console.error(out.textContent), 500)</script>`

const folder = [
  { path: 'index.html', text: '<title>Folder</title><script src="js/main.js"></script>' },
  {
    path: 'js/main.js',
    text: `new Worker('js/work.js')\nfail()\nfunction fail() {\n  throw new Error('in a file')\n}`,
  },
  {
    path: 'js/work.js',
    text: `importScripts('more.js')\nconsole.error('lost')\nthrow new Error('in a worker of a file')`,
  },
  { path: 'js/more.js', text: `setTimeout(() => { throw new Error('late in a worker') })` },
]

const secret = 'hunter2'
/** Its button fills the page. The errors after a press have what the player typed. */
const pressed = `<!doctype html><title>Pressed</title>
<button style="position:fixed;inset:0;width:100%;height:100%">Press</button>
<script>
const typed = '${secret}'.split('').reverse().join('')
document.querySelector('button').onclick = () => {
  setTimeout(() => { throw new Error('cannot read ' + typed) })
  setTimeout(() => null[typed])
  console.error('not saved', typed)
}
</script>`

const searched = [
  { path: 'index.html', text: '<title>Search</title><a href="found.html">Search</a>' },
  { path: 'found.html', text: '<title>Found</title><script src="found.js"></script>' },
  { path: 'found.js', text: "console.error('not found', location.search)" },
]

for (const [name, openBrowser] of sharedBrowsers) {
  const path = findForPages(name)
  describe.skipIf(path === undefined)(`errors of pages in ${name}`, () => {
    let t: TestServer
    let server: ReturnType<typeof serve>
    let browser: Browser
    let ann: TestAgent

    beforeAll(async () => {
      server = serve(() => t)
      t = await startTestServer({ APP_URL: `http://localhost:${server.port}` })
      ann = await t.agent('ann')
      browser = await openBrowser(path ?? '')
    }, ms)
    afterAll(async () => {
      await browser.close()
      await server.stop(true)
      await t.close()
    }, ms)

    const open = async (id: string) => {
      const tab = await browser.open()
      await tab.goto(`http://localhost:${server.port}/a/${id}`)
      return tab
    }
    /** Returns the errors of an app by their texts, once there are as many. */
    const errorsOf = (id: string, count: number) =>
      until(async () => {
        const { errors } = Object((await ann.call('GET', `/apps/${id}/errors`)).body)
        return (
          errors.length >= count &&
          new Map<string, object>(errors.map((error: { text: string }) => [error.text, error]))
        )
      })

    test(
      'reach the maker from a visitor without an account, with their place',
      async () => {
        const id = await ann.publish({ html: broken })
        const tab = await open(id)
        // WebKit hides what a script throws in a page of an opaque origin, but for the first one.
        const isHidden = name === 'webkit'
        const errors = await errorsOf(id, 7)
        expect(errors.get('lost object')).toMatchObject({ kind: 'logged', line: 2 })
        expect(errors.get('TypeError: in a module')).toMatchObject({ kind: 'thrown', line: 9 })
        expect(errors.get('Error: in a worker')).toMatchObject({ kind: 'thrown' })
        expect(errors.get('lost in a worker object')).toMatchObject({ kind: 'logged' })
        expect(errors.get('RangeError: far in a worker')).toMatchObject({ kind: 'rejected' })
        const missing = isHidden ? 'Script error.' : 'ReferenceError: missing is not defined'
        const line = isHidden ? 0 : 7
        expect(errors.get(missing)).toMatchObject({ kind: 'thrown', line, count: 1 })
        expect(errors.get('RangeError: far')).toMatchObject({ kind: 'rejected', line: 4 })
        await tab.close()
        const again = await open(id)
        await until(async () => Object((await errorsOf(id, 7)).get('lost object')).count === 2)
        await again.close()
      },
      ms,
    )

    test(
      'have the texts of the first script, which runs as any other',
      async () => {
        const id = await ann.publish({ html: single })
        const tab = await open(id)
        const isWebkit = name === 'webkit'
        const errors = await errorsOf(id, 3)
        const missing = isWebkit
          ? "ReferenceError: Can't find variable: missing"
          : 'ReferenceError: missing is not defined'
        expect(errors.get(missing)).toMatchObject({ kind: 'thrown', line: 10 })
        expect(errors.get('RangeError: in a timer')).toMatchObject({ kind: 'thrown', line: 9 })
        expect(errors.get('loading,1, second loaded')).toMatchObject({ kind: 'logged' })
        await tab.close()
      },
      ms,
    )

    test(
      'have the files of a folder',
      async () => {
        const id = await ann.publish({ html: undefined, files: folder })
        const tab = await open(id)
        const errors = await errorsOf(id, 4)
        expect(errors.get('Error: in a file')).toMatchObject({ file: 'js/main.js', line: 4 })
        // Other browsers name the blob that has the text of the file.
        const placeOf = (file: string, line: number) => (name === 'chromium' ? { file, line } : {})
        const own = errors.get('Error: in a worker of a file')
        expect(own).toMatchObject({ kind: 'thrown', ...placeOf('js/work.js', 3) })
        expect(errors.get('lost')).toMatchObject({ kind: 'logged', ...placeOf('js/work.js', 2) })
        const imported = errors.get('Error: late in a worker')
        expect(imported).toMatchObject({ kind: 'thrown', ...placeOf('js/more.js', 1) })
        await tab.close()
      },
      ms,
    )

    test(
      'say after a press what the source says, and nothing of the player',
      async () => {
        const id = await ann.publish({ html: pressed })
        const tab = await open(id)
        const find = `document.documentElement.dataset.started === ''`
        await until(async () => (await tab.evaluate(find)) === true)
        await until(async () => {
          await tab.click(640, 500)
          return (await tab.evaluate('navigator.userActivation.hasBeenActive')) === true
        })
        const errors = await errorsOf(id, 3)
        const texts = ['Error: cannot read …', 'TypeError: …', 'not saved …']
        expect([...errors.keys()].toSorted()).toEqual(texts)
        expect(errors.get('Error: cannot read …')).toMatchObject({ line: 6 })
        expect(JSON.stringify([...errors])).not.toContain([...secret].toReversed().join(''))
        await tab.close()
      },
      ms,
    )

    test(
      'say nothing of a query that the history has',
      async () => {
        const id = await ann.publish({ html: undefined, files: searched })
        const tab = await open(id)
        const find = `document.documentElement.dataset.started === ''`
        await until(async () => (await tab.evaluate(find)) === true)
        const place = JSON.stringify({ page: 'found.html', hash: '', search: `?q=${secret}` })
        await tab.evaluate(
          `history.replaceState(${place}, ''), setTimeout(() => location.reload())`,
        )
        expect([...(await errorsOf(id, 1)).keys()]).toEqual(['not found …'])
        // Chromium takes the evaluation for a press, which hides the query, too.
        expect(await tab.evaluate('document.documentElement.dataset.served')).toBe('')
        await tab.close()
      },
      ms,
    )
  })
}
