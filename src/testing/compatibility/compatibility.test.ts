import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { sharedBrowsers, startBrowser } from '../browsers/all-browsers.ts'
import {
  type Browser,
  findBrowser,
  findForPages,
  findInBrowser,
  type Tab,
  viewport,
} from '../browsers/browser.ts'
import { openFirefox } from '../browsers/firefox.ts'
import { fakeImage } from '../fakes/media-scripts.ts'
import { MemoryAppSource } from '../fakes/memory-app-source.ts'
import { makeWav } from '../fixtures/wav.ts'
import { openTarget, type Target } from '../red-team/target.ts'
import { isPart } from '../thorough.ts'
import { libraries } from './libraries.ts'
import { needs } from './pages.ts'

const samplesDir = join(import.meta.dir, '../../../public/samples')
const samples = readdirSync(samplesDir, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name)
const ms = 120_000
const waitMs = 60_000
/** CI runs every sixth feature in Firefox, which starts a page slowest. */
const stepInFirefox = 6
const doctype = '<!doctype html><body>'
const fill = 'style="position:fixed;inset:0;display:block"'

const dot = Buffer.from(fakeImage, 'base64')

/** Returns all messages of the page in order. While the viewer reloads, there are none. */
async function readMessages(tab: Tab): Promise<unknown[]> {
  const messages = await tab
    .evaluate("self.told.filter((m)=>m&&'said' in m).map((m)=>m.said)")
    .catch(() => [])
  return Array.isArray(messages) ? messages : []
}

const waitForMessages = (tab: Tab, count = 1): Promise<unknown[] | undefined> =>
  findInBrowser(async () => {
    const all = await readMessages(tab)
    return all.length >= count ? all : undefined
  }, waitMs)

const waitForStart = (tab: Tab, runs = 1): Promise<true | undefined> =>
  findInBrowser(async () => {
    const count = await tab.evaluate("self.told.filter((m)=>m?.type==='service:hello').length")
    return Number(count) >= runs || undefined
  }, waitMs)

/** Markup that reports to the viewer, after so many frames, that the app got them. */
const afterFrames = (frames: number, message: string): string =>
  `<script>(()=>{let n=${frames};const next=()=>n--?requestAnimationFrame(next):top.postMessage(${message},'*');document.readyState==='complete'?next():addEventListener('load',next)})()</script>`

/** Waits until a message of the app fits a condition on `m`. */
const waitForMessage = (tab: Tab, condition: string): Promise<true | undefined> =>
  findInBrowser(async () => {
    const isSent = await tab.evaluate(`self.told.some((m)=>${condition})`).catch(() => false)
    return isSent === true || undefined
  }, waitMs)

const middle = (tab: Tab): Promise<void> => tab.click(viewport.width / 2, viewport.height / 2)

/** Clicks a control of the viewer by its id. A bar that hides comes back at the edge. */
async function pressShell(tab: Tab, id: string): Promise<void> {
  let last = ''
  const place = await findInBrowser(async () => {
    const box = await tab.evaluate(
      `(()=>{const e=document.getElementById('${id}'),r=e.getBoundingClientRect();return e.checkVisibility({visibilityProperty:true})&&r.y>=0?[r.x+r.width/2,r.y+r.height/2]:null})()`,
    )
    // A bar that slides in is at the same place twice when it has arrived.
    const isStill = String(box) === last
    last = String(box)
    if (Array.isArray(box)) return isStill ? box : undefined
    await tab.click(viewport.width / 2, 2)
    return undefined
  }, waitMs)
  await tab.click(Number(place?.[0]), Number(place?.[1]))
}

const notice = (tab: Tab): Promise<string | undefined> =>
  findInBrowser(async () => {
    const text = String(await tab.evaluate("document.getElementById('message').textContent"))
    return text === '' ? undefined : text
  }, waitMs)

for (const [name, openBrowser] of sharedBrowsers) {
  const path = findForPages(name)
  describe.skipIf(path === undefined)(`browser features of pages in ${name}`, () => {
    let browser: Browser
    let target: Target
    let tab: Tab
    const hosted = new MemoryAppSource()
    let last = 0
    /** The viewer received what an app posts while its page is left. */
    const received = Promise.withResolvers<void>()

    /** Opens a page as a new app in the tab. */
    async function show(page: string, at: Tab = tab): Promise<string> {
      const id = `need${String((last += 1)).padStart(8, '0')}`
      hosted.put(id, page)
      hosted.putFile(id, 'beep.wav', 'audio/wav', makeWav())
      hosted.putFile(id, 'dot.png', 'image/png', dot)
      hosted.putFile(id, 'level.json', 'application/json', new TextEncoder().encode('{"n":9}'))
      await at.goto(`${target.origin}/a/${id}`)
      await waitForStart(at)
      return id
    }

    beforeAll(async () => {
      target = openTarget(hosted, name, {
        handle: ({ url }) => {
          if (url.endsWith('/received')) received.resolve()
          else if (url.endsWith('/next')) return received.promise.then(() => new Response(''))
          return undefined
        },
      })
      browser = await openBrowser(path ?? '')
      tab = await browser.open()
    }, ms)
    afterAll(async () => {
      await browser.close()
      await browser.lookups()
      target.close()
    })

    for (const [at, { name: what, page, hand, says }] of [...needs, ...libraries].entries()) {
      test.if(name !== 'firefox' || isPart(at, stepInFirefox))(
        what,
        async () => {
          await show(hand ? page + afterFrames(2, '{isShown:1}') : page)
          if (hand) expect(await waitForMessage(tab, 'm?.isShown')).toBe(true)
          if (hand === 'click') await middle(tab)
          else if (hand) await tab.press(hand)
          expect((await waitForMessages(tab))?.[0]).toEqual(says)
        },
        ms,
      )
    }

    for (const [at, sample] of samples.entries()) {
      test.if(name === 'chromium' || isPart(at, 3))(
        `the sample ${sample} starts without an error`,
        async () => {
          const watch = `<script>onerror=(e)=>top.postMessage({said:e},'*')</script>`
          const end = afterFrames(30, `{said:'begun'}`)
          await show(`${watch}${readFileSync(join(samplesDir, sample, 'index.html'))}${end}`)
          expect((await waitForMessages(tab))?.[0]).toBe('begun')
        },
        ms,
      )
    }

    test(
      'saves survive a new version, and session values survive a reload',
      async () => {
        const page = `${doctype}<script>localStorage.n=+(localStorage.n||0)+1;sessionStorage.m=+(sessionStorage.m||0)+1;top.postMessage({said:[localStorage.n,sessionStorage.m]},'*');onclick=()=>location.reload()</script>`
        const id = await show(page)
        await waitForMessages(tab)
        await middle(tab)
        expect(await waitForMessages(tab, 2)).toEqual([
          ['1', '1'],
          ['2', '2'],
        ])
        const isSaved = `m?.type==='service:save'&&String(m.changes).includes('n,2')`
        expect(await waitForMessage(tab, isSaved)).toBe(true)
        hosted.put(id, `${page}<!-- new -->`)
        await tab.goto(`${target.origin}/a/${id}?again`)
        expect(await waitForMessages(tab)).toEqual([['3', '1']])
      },
      ms,
    )

    // WebKit can end before the last message of a page that is left arrives.
    test.skipIf(name === 'webkit')(
      'values saved while leaving the page are stored, also more than fit one message',
      async () => {
        const id = await show(
          `${doctype}<script>top.postMessage({said:[localStorage.length,localStorage.left]},'*');for(let i=0;i<10005;i++)localStorage['k'+i]=i;onbeforeunload=()=>{localStorage.left=1}</script>`,
        )
        await waitForMessages(tab)
        // A read that has not ended would delay the next write.
        const isStored = `new Promise((done)=>{const opened=indexedDB.open('saves');opened.onsuccess=()=>{const read=opened.result.transaction('apps').objectStore('apps').get('${id}');read.onsuccess=()=>{opened.result.close();done(read.result?.size===10005)}}})`
        expect(
          await findInBrowser(
            async () => (await tab.evaluate(isStored)) === true || undefined,
            waitMs,
          ),
        ).toBe(true)
        // A browser passes messages on after it has asked the page whether it may leave. On a busy
        // machine the next page could respond before that.
        await tab.evaluate(
          "void addEventListener('message',({data})=>String(data?.changes)==='left,1'&&(new Image().src='/covers/received'))",
        )
        await tab.goto(`${target.origin}/next`)
        await tab.goto(`${target.origin}/a/${id}`)
        expect(await waitForMessages(tab)).toEqual([[10_006, '1']])
      },
      ms,
    )

    test(
      'an app that tries to navigate away stays or restarts',
      async () => {
        await show(
          `${doctype}<script>onkeydown=()=>top.postMessage({said:'here'},'*');const frames=(n)=>n?requestAnimationFrame(()=>frames(n-1)):top.postMessage({said:'runs'},'*');if(!sessionStorage.left){sessionStorage.left=1;setTimeout(()=>{location='?x';frames(60)},100)}else frames(2)</script>`,
        )
        expect(await waitForMessages(tab)).toEqual(['runs'])
        await tab.press('ArrowRight')
        expect(await waitForMessages(tab, 2)).toEqual(['runs', 'here'])
      },
      ms,
    )

    test(
      'the reload button restarts the app and focuses it',
      async () => {
        await show(`${doctype}<script>onkeydown=(e)=>top.postMessage({said:e.key},'*')</script>`)
        await pressShell(tab, 'more')
        await pressShell(tab, 'reload')
        expect(await waitForStart(tab, 2)).toBe(true)
        await tab.press('ArrowRight')
        expect(await waitForMessages(tab)).toEqual(['ArrowRight'])
      },
      ms,
    )

    test(
      'the viewer offers an external link',
      async () => {
        await show(`${doctype}<a ${fill} href=https://example.org/x>go</a>`)
        await middle(tab)
        expect(await notice(tab)).toBe('This app links to https://example.org/x')
        const href = await tab.evaluate("document.getElementById('offer').href")
        expect(href).toBe('https://example.org/x')
      },
      ms,
    )

    test(
      'a link without a target shows a notice',
      async () => {
        await show(`${doctype}<a ${fill} href=about.html>go</a>`)
        await middle(tab)
        expect(await notice(tab)).toBe('This app links to a page that is not in its folder.')
      },
      ms,
    )

    test(
      'the viewer saves a file on request',
      async () => {
        await show(
          `${doctype}<button ${fill} id=b>save</button><script>b.onclick=()=>{const a=document.createElement('a');a.href=URL.createObjectURL(new Blob(['hello']));a.download='note.txt';a.click();URL.revokeObjectURL(a.href)}</script>`,
        )
        const before = tab.seen().length
        await middle(tab)
        expect(await notice(tab)).toBe('This app created a file: “note.txt”, 5 bytes')
        expect(tab.seen()).toHaveLength(before)
        // WebKit's driver does not report downloads.
        if (name === 'webkit') return pressShell(tab, 'offer')
        // A button that has just appeared ignores clicks, which may be meant for the app.
        const isSaved = findInBrowser(async () => {
          if (tab.seen().length > before) return true
          const isOffered = await tab.evaluate("document.getElementById('offer').checkVisibility()")
          if (isOffered === true) await pressShell(tab, 'offer')
          return undefined
        }, waitMs)
        expect(await isSaved).toBe(true)
      },
      ms,
    )

    test(
      'a confirmation is shown, and the click is repeated with its result',
      async () => {
        await show(
          `${doctype}<button ${fill} id=b>reset</button><script>new MutationObserver(()=>requestAnimationFrame(()=>top.postMessage({isAsked:1},'*'))).observe(document,{childList:true,subtree:true});b.onclick=()=>top.postMessage({said:confirm('Reset?')},'*')</script>`,
        )
        await middle(tab)
        await waitForMessages(tab)
        expect(await waitForMessage(tab, 'm?.isAsked')).toBe(true)
        await tab.press('Enter')
        expect(await waitForMessages(tab, 2)).toEqual([false, true])
      },
      ms,
    )

    test(
      'an app in a background tab has its size from the start',
      async () => {
        const behind = await browser.open('behind')
        await tab.press('a')
        const page = `${doctype}<script>top.postMessage({said:innerWidth},'*')</script>`
        hosted.put('behind000000', page)
        await behind.goto(`${target.origin}/a/behind000000`)
        // Firefox starts the app with the first frame, which a tab behind does not have.
        expect(await waitForMessage(behind, "m?.type==='mode'")).toBe(true)
        await behind.press('a')
        expect(await waitForMessages(behind)).toEqual([await behind.evaluate('innerWidth')])
        await behind.close()
      },
      ms,
    )

    test.skipIf(name !== 'firefox')(
      'a browser that claims to be Chromium still gets the fallback',
      async () => {
        const agent =
          'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0 Safari/537.36'
        const other = await openFirefox(path ?? '', { 'general.useragent.override': agent })
        const one = await other.open()
        await show(`${doctype}x`, one)
        expect(await one.evaluate('navigator.userAgent')).toBe(agent)
        const modes = await one.evaluate("self.told.filter((m)=>m?.type==='mode')")
        expect(modes).toEqual([{ type: 'mode', depth: 8 }])
        await other.close()
        await other.lookups()
      },
      ms,
    )

    test(
      'the toolbar works while an app blocks the processor',
      async () => {
        // Chromium gets an app that never ends. Firefox can run an app in the viewer's process.
        const end = name === 'chromium' ? 'Infinity' : 'Date.now()+4000'
        // The back/forward cache of other tests would keep the app's process alive.
        // Without windows, Chromium starts the new frame in the process that is busy.
        const other = await startBrowser[name](findBrowser(name) ?? '')
        const one = await other.open()
        await show(
          `${doctype}<script>top.postMessage({said:'ready'},'*');onclick=()=>{top.postMessage({said:'burns'},'*');setTimeout(()=>{for(const end=${end};Date.now()<end;);},300)}</script>`,
          one,
        )
        expect(await waitForMessages(one)).toEqual(['ready'])
        await middle(one)
        expect(await waitForMessages(one, 2)).toEqual(['ready', 'burns'])
        await pressShell(one, 'more')
        await pressShell(one, 'reload')
        // Where the new frame shares the process of the old one, the viewer reloads its page.
        const isReady = async () => (await readMessages(one)).at(-1) === 'ready' || undefined
        expect(await findInBrowser(isReady, waitMs)).toBe(true)
        await other.close()
        await other.lookups()
      },
      ms,
    )
  })
}
