import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { HostedApp } from '../../apps/viewer/app-source.ts'
import { sharedBrowsers } from '../browsers/all-browsers.ts'
import {
  type Browser,
  findForPages,
  findInBrowser,
  type Tab,
  viewport,
} from '../browsers/browser.ts'
import { MemoryAppSource } from '../fakes/memory-app-source.ts'
import { openTarget, type Target } from './target.ts'

const ms = 90_000
const waitMs = 20_000
const statuses = `async(...names)=>top.postMessage({said:await Promise.all(names.map(async([name,cache])=>{
try{return (await fetch(name,{cache})).status}catch(e){return String(e)}}))},'*')`
/** Loads a file at once, and with a click that one again and one that it has not loaded. */
const page = `<!doctype html><body style="height:100vh"><script>
const look=${statuses};look(['known.json','default'])
onclick=()=>look(['known.json','reload'],['new.json','default'])
new Worker('worker.js').onmessage=(e)=>top.postMessage(e.data,'*')
</script>`
const worker = `onmessage=()=>0;fetch('known.json').then((r)=>postMessage({said:['worker',r.status]}))`
const id = 'endedApp0001'

async function messagesOf(tab: Tab, count: number): Promise<unknown> {
  return findInBrowser(async () => {
    const messages = await tab
      .evaluate("self.told.filter((m)=>m&&'said' in m).map((m)=>m.said)")
      .catch(() => [])
    return Array.isArray(messages) && messages.length >= count ? messages : undefined
  }, waitMs)
}

/** An app ends while somebody has it open, in each browser. */
for (const [name, openBrowser] of sharedBrowsers) {
  const path = findForPages(name)
  describe.skipIf(path === undefined)(`an open app that ends, in ${name}`, () => {
    const hosted = new MemoryAppSource()
    let requests: string[] = []
    let browser: Browser
    let target: Target

    beforeAll(async () => {
      target = openTarget(hosted, name, {
        handle: ({ url }) => void requests.push(new URL(url).pathname),
      })
      browser = await openBrowser(path ?? '')
    }, ms)
    afterAll(async () => {
      await browser.close()
      await browser.lookups()
      target.close()
    })

    const setState = (state: HostedApp['state']): void => {
      const stored = hosted.apps.get(id)
      if (!stored) throw new Error('the app is missing')
      hosted.apps.set(id, { ...stored, app: { ...stored.app, state } })
      hosted.commitCount += 1
    }

    test.each<HostedApp['state']>(['taken_down', 'quarantined', 'closed'])(
      'reaches none of its files when it is %s, and no copy of them is a page',
      async (state) => {
        const files = { 'known.json': '"known"', 'new.json': '1', 'worker.js': worker }
        hosted.putFolder(id, { 'index.html': page, ...files, 'state.json': `"${state}"` })
        setState('live')
        requests = []
        const tab = await browser.open()
        await tab.goto(`${target.origin}/a/${id}`)
        expect(await messagesOf(tab, 2)).toEqual(expect.arrayContaining([[200], ['worker', 200]]))
        const known = requests.find((one) => one.endsWith('/known.json')) ?? ''

        setState(state)
        await tab.click(viewport.width / 2, viewport.height / 2)
        expect(await messagesOf(tab, 3)).toEqual(expect.arrayContaining([[404, 404]]))

        // Neither the link nor the address of a file that the browser still has shows anything.
        requests = []
        for (const address of [`/a/${id}`, known]) {
          await tab.goto(target.origin + address)
          const shown = await findInBrowser(async () => {
            const text = await tab.evaluate('document.body?.innerText').catch(() => undefined)
            return typeof text === 'string' && text !== '' ? text : undefined
          }, waitMs)
          expect(shown).not.toContain('known')
        }
        expect(requests.filter((one) => one.startsWith('/f/'))).toEqual([known])
        await tab.close()
      },
      ms,
    )
  })
}
