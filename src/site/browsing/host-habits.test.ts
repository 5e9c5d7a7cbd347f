import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser, Page } from 'playwright-core'

import { findBrowser } from '../../testing/browsers/browser.ts'
import { type BrowserSession, openServedSession } from '../../testing/browsers/session.ts'
import { createTestPerson, createTestSession } from '../../testing/fixtures/people.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'

const ms = 120_000
/** The demo model repeats what it gets. */
const echo = expect.stringContaining('sea')

const anthropic = `fetch('https://api.anthropic.com/v1/messages', {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({
    model: 'claude-sonnet-4-20250514',
    max_tokens: 1000,
    messages: [{ role: 'user', content: 'Tell me of the sea' }],
    STREAM
  }),
})`
const openai = `fetch(new Request('https://api.openai.com/v1/chat/completions', {
  method: 'POST',
  headers: { Authorization: 'Bearer YOUR_API_KEY', 'Content-Type': 'application/json' },
  body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Tell me of the sea' }] }),
}))`
const gemini = `fetch('https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash-preview-05-20:METHOD?key=' + apiKey, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'Tell me of the sea' }] }] }),
})`
const xhr = `new Promise((resolve, reject) => {
  const request = new XMLHttpRequest()
  const states = []
  request.onreadystatechange = () => states.push(request.readyState)
  request.onload = () => resolve([request.status, JSON.parse(request.responseText).content[0].text, states.at(-1)])
  request.onerror = reject
  request.open('POST', 'https://api.anthropic.com/v1/messages')
  request.setRequestHeader('content-type', 'application/json')
  request.send(JSON.stringify({ model: 'claude-3-haiku', max_tokens: 99, messages: [{ role: 'user', content: 'the sea' }] }))
})`

/** Pages as models write them for each host: an expression, and its value as JSON. */
const habits: [name: string, expression: string, value: unknown][] = [
  ['claude.complete', `claude.complete('Tell me of the sea')`, echo],
  [
    'claude.complete with messages',
    `window.claude.complete({ system: 'Be short.', messages: [{ role: 'user', content: 'the sea' }] })`,
    echo,
  ],
  [
    'claude.use',
    `(async () => {
      const [sample, none] = [await claude.use('sample'), await claude.use('nothing')]
      let last = ''
      const { text, truncated } = await sample('the sea', { onText: (now) => { last = now.text } })
      return [text === last, truncated, none, text]
    })()`,
    [true, false, null, echo],
  ],
  [
    'the bounds of window.storage',
    `(async () => {
      const storage = window.storage
      const codeOf = (work) => work.then(() => 'none', ({ code }) => code)
      const keys = ['k'.repeat(200), 'two words', 'a/b', 'a\\\\b', '"a"', "it's", '']
      const bad = await Promise.all(keys.map((key) => codeOf(storage.set(key, '1'))))
      const large = await codeOf(storage.set('large', 'x'.repeat(5_242_881)))
      return [new Set(bad).size, bad[0], large, await codeOf(storage.get('none')), await storage.set('k'.repeat(199), '1', false)]
    })()`,
    [
      1,
      'bad_request',
      'too_large',
      'not_found',
      { key: 'k'.repeat(199), value: '1', shared: false },
    ],
  ],
  [
    'keyless fetch to Anthropic',
    `${anthropic.replace('STREAM', '')}.then((r) => r.json()).then((d) => [d.type, d.content[0].text])`,
    ['message', echo],
  ],
  [
    'keyless stream of Anthropic',
    `(async () => {
      const response = await ${anthropic.replace('STREAM', 'stream: true')}
      const reader = response.body.getReader()
      let all = ''
      for (;;) {
        const { done, value } = await reader.read()
        if (done) break
        all += new TextDecoder().decode(value)
      }
      return [response.headers.get('content-type').split(';')[0], /event: message_stop/.test(all)]
    })()`,
    ['text/event-stream', true],
  ],
  ['XMLHttpRequest to Anthropic', xhr, [200, echo, 4]],
  [
    'OpenAI with a placeholder key',
    `${openai}.then((r) => r.json()).then((d) => d.choices[0].message.content)`,
    echo,
  ],
  [
    'Gemini canvas with an empty key',
    `(async (apiKey) => {
      const response = await ${gemini.replace('METHOD', 'generateContent')}
      const { candidates: [{ content: { parts: [{ text }] } }] } = await response.json()
      return [text, typeof __firebase_config]
    })('')`,
    [echo, 'string'],
  ],
  [
    'websim',
    `(async () => {
      const chat = await websim.chat.completions.create({ messages: [{ role: 'user', content: 'the sea' }] })
      const { url } = await websim.imageGen({ prompt: 'a boat' })
      const { getUser } = websim
      const { username } = await getUser()
      return [chat.role, chat.content, url.startsWith('data:image/'), username !== '']
    })()`,
    ['assistant', echo, true, true],
  ],
  [
    'Poe',
    `new Promise((resolve) => {
      let calls = 0
      Poe.registerHandler('show', (result, context) => {
        calls += 1
        const [{ content, status }] = result.responses
        if (result.status === 'complete') resolve([calls > 1, status, content, context.round])
      })
      Poe.sendUserMessage('@Claude-Sonnet-4 Tell me of the sea', { handler: 'show', stream: true, handlerContext: { round: 3 } })
    })`,
    [true, 'complete', echo, 3],
  ],
  [
    'Puter',
    `(async () => {
      const whole = await puter.ai.chat('Tell me of the sea', { model: 'gpt-5-nano' })
      let streamed = ''
      for await (const part of await puter.ai.chat('Tell me of the sea', { stream: true })) streamed += part?.text
      await puter.kv.set('count', 1)
      await puter.kv.incr('count', 2)
      const image = await puter.ai.txt2img('a boat')
      return [String(whole), whole.message.content === streamed, await puter.kv.list('c*', true), image.tagName]
    })()`,
    [echo, true, [{ key: 'count', value: 3 }], 'IMG'],
  ],
  [
    'Spark',
    `(async () => {
      const { user } = spark
      return [await spark.llm(spark.llmPrompt\`Tell me of the \${'sea'}\`), (await user()).login]
    })()`,
    [echo, 'player'],
  ],
  [
    'LanguageModel of Chrome',
    `(async () => {
      const session = await LanguageModel.create({ initialPrompts: [{ role: 'system', content: 'Be kind.' }] })
      let streamed = ''
      for await (const part of session.promptStreaming('Tell me of the sea')) streamed += part
      const aborted = new AbortController()
      aborted.abort()
      const error = await session.prompt('more', { signal: aborted.signal }).catch(({ name }) => name)
      return [await LanguageModel.availability(), streamed, error]
    })()`,
    ['available', echo, 'AbortError'],
  ],
]

/** The errors of models by interface: most have the code of `service`. */
const deniedCodes = [
  'not_granted',
  'not_granted',
  'NotAllowedError',
  'not_granted',
  'not_granted',
  'not_granted',
]

describe.skipIf(findBrowser('chromium') === undefined)('pages of other hosts in chromium', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']
  let cookie = ''
  /** A page of a person, which shows one app after the other. A new one starts a process. */
  let page: Page

  beforeAll(async () => {
    ;({ t, browser, origin, close } = await openServedSession())
    cookie = (await createTestSession(t, await createTestPerson(t, 'olga', 1n))).cookie
    const context = await browser.newContext()
    const [name = '', value = ''] = cookie.split('=')
    await context.addCookies([{ name, value, url: origin }])
    page = await context.newPage()
  }, ms)
  afterAll(() => close())

  async function valueOf(expression: string, isAgreed: boolean): Promise<unknown> {
    const ann = await t.agent('ann')
    const html = `<!doctype html><title>Habit</title><output></output><script>
      const show = (value) => { document.querySelector('output').textContent = JSON.stringify(value) }
      ${expression}.then(show, (error) => show('failed: ' + error))
    </script>`
    const id = await ann.publish({ html })
    if (isAgreed) {
      const body = { uses: ['ai', 'store', 'db', 'room'], dailyCap: 100, remember: false }
      const headers = { cookie, 'sec-fetch-site': 'same-origin' }
      const { status } = await t.call('PUT', `/apps/${id}/consent`, { headers, body })
      expect(status).toBe(200)
    }
    await page.goto(`${origin}/a/${id}`)
    if (!isAgreed) {
      const no = page.getByRole('alertdialog').getByRole('button', { name: 'Not now' })
      await no.click()
      // The first moment of the bar counts no press.
      for (; (await no.count()) > 0;) await no.click({ timeout: 1_000 }).catch(() => undefined)
    }
    const output = page.frameLocator('iframe').locator('output')
    await output.filter({ hasText: /./ }).waitFor()
    return JSON.parse((await output.textContent()) ?? '')
  }

  test.each(habits)(
    '%s works unchanged',
    async (_, expression, value) => {
      expect(await valueOf(expression, true)).toEqual(value)
    },
    ms,
  )

  test(
    'window.fs.readFile of a Claude artifact reads the files of its folder',
    async () => {
      const script = `const text = await window.fs.readFile('./data.csv', { encoding: 'utf8' })
        const bytes = await window.fs.readFile('data.csv')
        const missing = await window.fs.readFile('none.csv').catch(({ message }) => message)
        document.querySelector('output').textContent = JSON.stringify([text, bytes.length, missing])`
      const files = [
        {
          path: 'index.html',
          text: `<!doctype html><title>CSV</title><output></output><script type="module">${script}</script>`,
        },
        { path: 'data.csv', text: 'name,age' },
      ]
      const sent = await (await t.agent('ann')).call('POST', '/apps', { files })
      await page.goto(`${origin}/a/${sent.text('app.id')}`)
      const output = page.frameLocator('iframe').locator('output')
      await output.filter({ hasText: /./ }).waitFor()
      const value = JSON.parse((await output.textContent()) ?? '')
      expect(value).toEqual(['name,age', 8, expect.stringContaining('none.csv')])
    },
    ms,
  )

  test(
    'two windows of websim see each other come and go, and change only their own records',
    async () => {
      const html = `<!doctype html><title>Ships</title><output></output><script>
        const lines = []
        const show = (line) => { lines.push(line); document.querySelector('output').textContent = lines.join('\\n') }
        const room = new WebsimSocket()
        room.onmessage = ({ data: { type, username } }) => show(type + ' ' + (username !== ''))
        const ships = room.collection('ship')
        ships.subscribe((all) => show('ships ' + all.map(({ name }) => name)))
        room.initialize().then(() => show('ready'))
        const sail = (name) => ships.create({ name })
        const rename = () => ships.update(ships.getList().at(-1).id, { name: 'mine' }).catch(({ code }) => show(code))
      </script>
      <button onclick="sail(name)">Sail</button><button onclick="rename()">Rename</button>`
      const id = await (await t.agent('ann')).publish({ html })
      const open = async (name: string) => {
        const context = await browser.newContext()
        const page = await context.newPage()
        await page.goto(`${origin}/robots.txt`)
        await page.evaluate(
          `fetch('/api/apps/${id}/player', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"${name}"}' }).then(({ ok }) => ok)`,
        )
        await page.goto(`${origin}/a/${id}`)
        const app = page.frameLocator('iframe')
        const sees = (text: string) => app.locator('output').filter({ hasText: text }).waitFor()
        const press = (label: string) => app.getByRole('button', { name: label }).click()
        await sees('ready')
        return { context, sees, press }
      }
      const first = await open('Ada')
      const second = await open('Ben')
      await first.sees('connected true')
      await first.press('Sail')
      await second.sees('ships')
      await second.press('Rename')
      await second.sees('not_own')
      await second.context.close()
      await first.sees('disconnected true')
      await first.context.close()
    },
    ms,
  )

  test.each([
    [
      'Anthropic',
      `${anthropic.replace('STREAM', '')}.then(async (r) => [r.status, (await r.json()).error.type])`,
      [403, 'permission_error'],
    ],
    [
      'OpenAI',
      `${openai}.then(async (r) => [r.status, (await r.json()).error.code])`,
      [403, 'not_granted'],
    ],
    [
      'Poe',
      `Poe.sendUserMessage('the sea').catch((error) => error.errorType)`,
      'USER_REJECTED_CONFIRMATION',
    ],
    [
      'every other interface of models',
      `(async (apiKey) => {
        const codeOf = (work) => work.then(() => 'none', ({ name, code }) => typeof code === 'string' ? code : name)
        const google = await ${gemini.replace('METHOD', 'generateContent')}
        return [
          [google.status, (await google.json()).error.status],
          await codeOf(claude.complete('the sea')),
          await codeOf(claude.use('sample').then((sample) => sample('the sea'))),
          await codeOf(LanguageModel.create().then((session) => session.prompt('the sea'))),
          await codeOf(websim.chat.completions.create({ messages: [{ role: 'user', content: 'the sea' }] })),
          await codeOf(puter.ai.chat('the sea')),
          await codeOf(spark.llm('the sea')),
        ]
      })('')`,
      [[403, 'PERMISSION_DENIED'], ...deniedCodes],
    ],
    [
      'every interface of shared data',
      `(async () => {
        const codeOf = (work) => work.then(() => 'none', ({ code }) => code)
        const { getAuth, signInAnonymously } = await import('https://www.gstatic.com/firebasejs/11.6.1/firebase-auth.js')
        const permissions = await claude.use('permissions')
        const user = await claude.use('user')
        return [
          await codeOf(claude.use('db').then((db) => db.doc('a/1').set({ a: 1 }))),
          await codeOf(claude.use('room').then((room) => room.emit('hi'))),
          [await user.id(), (await user.me()).name, await permissions.request(['db'])],
          await codeOf(new WebsimSocket().initialize()),
          await codeOf(signInAnonymously(getAuth())),
        ]
      })()`,
      [
        'not_granted',
        'not_granted',
        [null, '', { db: 'denied' }],
        'not_granted',
        'auth/user-cancelled',
      ],
    ],
  ])(
    '%s gets its own error after “Not now”',
    async (_, expression, value) => {
      expect(await valueOf(expression, false)).toEqual(value)
    },
    ms,
  )
})
