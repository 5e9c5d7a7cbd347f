import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { type Browser, chromium, type Page } from 'playwright-core'

import { hour } from '../../core/time.ts'
import { findBrowser, until } from '../../testing/browsers/browser.ts'
import { FormBrowser as Visitor, origin } from '../../testing/fixtures/form-browser.ts'
import { password } from '../../testing/fixtures/people.ts'
import { type PageSet, ScriptCanaries } from '../../testing/fixtures/script-canaries.ts'
import { payloads } from '../../testing/fixtures/script-payloads.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { getDocument, getGatewayDocument, listTextFields } from '../../testing/openapi/document.ts'

const ms = 1_200_000
const unframed = "frame-ancestors 'none'"
/** Pages of the site play an app in a frame. */
const framedHere = "frame-ancestors 'self';"
const shells = /^\/a\/[\w-]{12}(?:\/versions\/1)?$/
const ownPages = /^\/(?:account|agents|wallet|studio|console)/
const executablePath = findBrowser('chromium')
/** The number of pages to open in parallel. */
const sheetMax = 12
/** Loads URLs in frames of one page. */
const sheet = (paths: string[]): string => `Promise.all(${JSON.stringify(paths)}.map((path) =>
  new Promise((loaded) => {
    const frame = document.createElement('iframe')
    frame.src = path
    frame.onload = loaded
    document.body.append(frame)
  }))).then(() => document.body.replaceChildren())`
const asHtml = { headers: { 'content-type': 'text/html; charset=utf-8' } }

/** Records dialogs and CSP violations. */
const watch = `
  for (const name of ['alert', 'confirm', 'prompt']) self[name] = () => told(name + ' ' + location)
  addEventListener('securitypolicyviolation', ({ violatedDirective }) => told(violatedDirective + ' ' + location))`

describe.skipIf(executablePath === undefined)('user-provided text', () => {
  let poisoned: ScriptCanaries
  let browser: Browser
  let server: ReturnType<typeof Bun.serve>
  let pages = 0
  const visitors: Page[] = []
  const ran: string[] = []

  beforeAll(async () => {
    poisoned = await ScriptCanaries.open()
    const { t } = poisoned
    server = Bun.serve({ port: 0, fetch: (request) => serve(t, request) })
    // Pages of apps name the address of the server, so it is fixed.
    const rules = `--host-resolver-rules=MAP localhost:3000 localhost:${server.port}`
    browser = await chromium.launch({
      executablePath: executablePath ?? '',
      args: ['--no-sandbox', '--disable-gpu', rules],
    })
  }, ms)
  afterAll(async () => {
    await browser.close()
    await server.stop(true)
    await poisoned.t.close()
  })

  /** Proxies the server and allows framing in this test only. */
  async function serve(t: TestServer, request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url)
    // Payloads load "x" relative to the page.
    if (/\/x$/.test(pathname)) ran.push(`asks ${request.url}`)
    if (pathname === '/control') return new Response(payloads.join(''), asHtml)
    // Tests the viewer shell without the app.
    if (pathname === '/frame') return new Response(null, { status: 204 })
    if (pathname === '/sheet') return new Response('<!doctype html>', asHtml)
    const answer = await t.handle(request, '127.0.0.1')
    if (request.headers.get('sec-fetch-dest') !== 'iframe') return answer
    if (answer.ok) pages += 1
    else if (ownPages.test(pathname) && search === '') ran.push(`${answer.status} ${pathname}`)
    const csp = answer.headers.get('content-security-policy') ?? ''
    const isPage = answer.headers.get('content-type')?.startsWith('text/html')
    if (!isPage) return answer
    const isShell = shells.test(pathname)
    if (!csp.includes(isShell ? framedHere : unframed)) ran.push(`may be framed: ${pathname}`)
    answer.headers.delete('x-frame-options')
    answer.headers.set('content-security-policy', csp.replace(unframed, "frame-ancestors 'self'"))
    return answer
  }

  async function opened(path: string): Promise<Page> {
    const context = await browser.newContext()
    await context.exposeFunction('told', (what: string) => void ran.push(what))
    await context.addInitScript(watch)
    const page = await context.newPage()
    await page.goto(origin + path).catch(() => undefined)
    return page
  }

  /**
   * Opens URLs in batches. Each browser page stays on one document: a navigation would start a new,
   * cold process.
   */
  async function openPages({ cookie, paths }: PageSet, at: number): Promise<void> {
    const page = (visitors[at] ??= await opened('/sheet'))
    await page.context().clearCookies()
    const cookies = cookie ? [{ name: 'berth', value: cookie, url: origin }] : []
    await page.context().addCookies(cookies)
    for (let from = 0; from < paths.length; from += sheetMax) {
      await page.evaluate(sheet(paths.slice(from, from + sheetMax)))
    }
  }

  test(
    'runs on a page without escaping',
    async () => {
      const page = await opened('/control')
      const didRun = (word: string) => ran.some((what) => what.startsWith(word))
      const didBoth = async () => (didRun('alert') && didRun('asks')) || undefined
      expect(await until(didBoth, ms / 4)).toBe(true)
      await page.context().close()
    },
    ms,
  )

  test(
    'does not run on any page: 300 payloads in every field',
    async () => {
      ran.length = 0
      expect(payloads.length).toBeGreaterThanOrEqual(300)
      for await (const round of poisoned.rounds()) {
        await Promise.all(round.map(openPages))
      }
      expect(ran).toEqual([])
      expect(pages).toBeGreaterThan(1_400)
    },
    ms,
  )
})

/** Maps every text field of the APIs to its pages. Add new fields here. */
const fields = {
  'is in what the pages above show': `change_me.about new_agent.about add_key.name change_key.name
    add_agent_key.name publish_app.html publish_version.html publish_app.title change_app.title
    publish_app.files.text publish_version.files.text
    publish_app.description change_app.description publish_version.note make_assets.assets.what
    review_item.text answer_review.text add_comment.text report_item.text report_item.contact
    appeal.text create_collection.title create_collection.description change_collection.title
    change_collection.description publish_skill.skill publish_framework.skill publish_skill.files.text
    publish_framework.files.text publish_skill_version.skill publish_framework_version.skill
    publish_skill_version.files.text publish_framework_version.files.text publish_skill_version.note
    publish_framework_version.note publish_framework.steps.title publish_framework.steps.done
    publish_framework_version.steps.title publish_framework_version.steps.done change_skill.title
    change_skill.description change_framework.title change_framework.description start_run.goal
    report_step.note report_step.evidence.value report_step.evidence.note report_run.summary
    report_run.evidence.value report_run.evidence.note answer_run.text`,
  'is of a form that holds none': `new_agent.handle claim_agent.code add_hook.url put_icon.image
    put_cover.image put_screenshot.image publish_app.files.path publish_version.files.path
    publish_app.files.base64 publish_version.files.base64
    get_balance.credit_id create_chat_completion.file_id upload_file.purpose add_key.models
    change_key.models create_batch.input_file_id create_response.previous_response_id
    publish_skill.files.path publish_framework.files.path publish_skill_version.files.path
    publish_framework_version.files.path publish_skill.files.base64 publish_framework.files.base64
    publish_skill_version.files.base64 publish_framework_version.files.base64
    publish_framework.share.asset publish_framework.share.network
    publish_framework_version.share.asset publish_framework_version.share.network
    pay_share.network`,
  'is read by programs of its account and stands on no page': `add_key.note add_key.project
    add_key.tags change_key.note change_key.project change_key.tags add_project.name
    change_project.name`,
  'is read by a model and stands on no page': `publish_app.prompt publish_version.prompt
    put_icon.prompt make_assets.assets.voice create_chat_completion.model
    create_chat_completion.models create_chat_completion.messages.content create_response.model
    create_response.input create_response.instructions create_message.model
    create_message.messages.content create_message.system create_message.stop_sequences
    count_message_tokens.model count_message_tokens.messages.content count_message_tokens.system
    create_completion.model create_completion.prompt create_completion.suffix
    create_embeddings.model create_embeddings.input create_images.model create_images.prompt create_images.size
    create_images.negative_prompt create_video.model create_video.prompt create_video.aspect_ratio
    create_video.duration create_video.seconds create_video.size create_speech.model
    create_speech.input create_speech.voice create_transcription.model
    create_transcription.language create_transcription.prompt create_translation.model
    create_translation.prompt create_moderation.model create_moderation.input edit_images.model
    edit_images.prompt edit_images.size vary_image.model vary_image.size rerank.model rerank.query
    rerank.documents`,
}

test('covers every text field of both OpenAPI documents', async () => {
  const t = await startTestServer()
  const all = [await getDocument(t), await getGatewayDocument(t)].flatMap(listTextFields)
  const known = Object.values(fields).flatMap((names) => names.split(/\s+/))
  expect([...new Set(all)].toSorted()).toEqual(known.toSorted())
  await t.close()
})

test(
  'rejects payloads in handles, account names and file names',
  async () => {
    const t = await startTestServer()
    const ann = await t.agent('ann')
    const id = await ann.publish()
    const visitor = new Visitor(t)
    for (const text of payloads) {
      t.clock.advance(hour)
      const file = `/apps/${id}/assets/${encodeURIComponent(text)}`
      const ask = { name: text, kind: 'sprite', what: 'A buoy' }
      const answers = [
        await t.call('POST', '/keys', { body: { handle: text } }),
        await ann.call('PUT', file, { lit: true }),
        await ann.call('POST', `/apps/${id}/assets`, { assets: [ask] }),
        await ann.call('POST', '/me/hooks', { url: text }),
        await visitor.fill('/sign-up', '/sign-up', { name: text, password }),
      ]
      expect([text, ...answers.map(({ status }) => status)]).toEqual([text, ...Array(5).fill(400)])
    }
    await t.close()
  },
  ms,
)
