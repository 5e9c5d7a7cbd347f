import { escapeHtml } from '../core/text.ts'
import { hour } from '../core/time.ts'
import * as keys from '../hosting/people/keys.ts'
import { findByName } from '../hosting/people/people.ts'
import * as sessions from '../hosting/people/sessions.ts'
import { aboutCharsMax } from '../limits.ts'
import { Catalogue } from '../models/catalogue.ts'
import { Authenticator, optionsIn } from './authenticator.ts'
import { judge, stored } from './judged.ts'
import { testModel } from './models.ts'
import { type Browser, claimedBy, hidden, operating, origin, signedUp } from './pages.ts'
import { payloads } from './payloads.ts'
import { askedFor, consolePaths, ownPaths, searchedFor, studioPaths } from './poisoned-paths.ts'
import { openTestHouse, type Person, type TestHouse } from './test-server.ts'

/** As many texts as stand in one list; pages show about twenty of a thing. */
const atOnce = 18
const listPagesMax = 3
const html = '<!doctype html><title>x</title>x'

/** Addresses to open, as who is signed in by a cookie or as anyone. */
export interface Opened {
  cookie?: string | undefined
  paths: string[]
}

/** An item for each text, one that all are said of, and what only its owner is shown. */
interface Items {
  public: string[]
  kept: string[]
  said: string
}

/** Puts every payload into every text field that a page shows, through the APIs. */
export class Poisoned {
  readonly #agents: Person[] = []
  readonly #parts = partsOf(payloads, atOnce)
  /** Pages of one app and its owner, where each text stands but once. */
  #last: string[] = []

  private constructor(
    readonly t: TestHouse,
    /** The operator, who owns the maker of all items. */
    readonly olga: Browser,
  ) {}

  static async open(): Promise<Poisoned> {
    const model = (name: string, at: number) =>
      testModel({ prompt: '0.000001', completion: '0.000001' }, { id: `evil/m${at}`, name })
    const t = await openTestHouse({}, { catalogue: new Catalogue(payloads.map(model)) })
    await t.ctx.jobs.start()
    const made = new Poisoned(t, await operating(t))
    await signedUp(t, 'bea')
    for (let at = 0; at <= atOnce; at += 1) made.#agents.push(await t.person(`maker-${at}x`))
    await claimedBy(made.olga, made.#agent(0))
    return made
  }

  /** The pages that show what was stored, in rounds: some of them show one text at a time. */
  async *rounds(): AsyncGenerator<Opened[]> {
    const cookie = this.olga.cookie()
    await Promise.all(this.#agents.map((agent) => agent.publish({ store: true })))
    for (const [at, texts] of this.#parts.entries()) {
      this.t.clock.turn(hour)
      const items = await this.#items(at, texts)
      const pairs = pairsOf(texts)
      for (const [n, about] of pairs.entries()) {
        stored(await this.#agent(n).call('PATCH', '/me', { about }))
      }
      const makers = pairs.map((_, n) => `/explore/@${this.#agent(n).handle}`)
      const asked = pairs.flatMap((pair, n) => askedFor(pair, at + n))
      const judged = await judge(this.t, this.#agent(0), items.said, texts)
      const lists = ['/console/audit', `/agents/${this.#agent(0).handle}/notes`]
      const told = await Promise.all(lists.map((path) => this.#pagesOf(path)))
      const searched = texts.map((text, n) => searchedFor(text, at + n))
      yield [
        { paths: [...items.public, ...makers, ...asked] },
        { cookie, paths: [...items.kept, ...judged.paths, ...told.flat(), ...searched] },
        await this.#owned(at, texts),
      ]
      await judged.clear()
    }
    yield [
      { paths: ['/', '/api/explore/feed.json', '/sitemap.xml', '/docs'] },
      { paths: [...(await this.#pagesOf('/explore', 99)), '/api/explore/feed.atom'] },
      { paths: [1, 2, 3, 4].map((page) => `/catalogue?page=${page}`) },
      { cookie, paths: [...consolePaths, ...this.#last] },
    ]
  }

  #agent(at: number): Person {
    const agent = this.#agents[at]
    if (!agent) throw new Error(`no agent ${at}`)
    return agent
  }

  async #items(at: number, texts: string[]): Promise<Items> {
    const maker = this.#agent(0)
    const said = await maker.publish({ store: true })
    const told = await maker.publish({ html: `${html}<!-- ${at} -->` })
    const paths = [`/explore/${said}`]
    for (const [n, text] of texts.entries()) {
      // The page's own title is the item's, as nothing else is given.
      const titled = `<!doctype html><title>${escapeHtml(text)}</title>x`
      const about = { html: titled, description: text, store: true }
      const id = (await maker.call('POST', '/apps', about)).text('app.id')
      paths.push(`/explore/${id}`, `/a/${id}`)
      stored(await maker.call('POST', `/apps/${said}/versions`, { html, note: text }))
      await this.#say(this.#agent(n + 1), said, text)
      const words = { item: told, reason: 'other', text, contact: text }
      stored(await this.t.call('POST', '/report', { body: words, from: `198.51.${at}.${n}` }))
      if (n > 0) continue
      const link = encodeURIComponent(`${origin}/a/${id}`)
      paths.push(await this.#copied(id), `/report/${id}`, `/oembed?url=${link}`)
      this.#last = [...ownPaths(maker.handle), ...studioPaths(id), `/a/${id}/versions/1`]
    }
    await this.#made(said, texts)
    const own = [`/agents/${maker.handle}/apps`, `/console/apps/${told}`]
    const studio = ['versions', 'assets'].map((tab) => `/studio/${said}/${tab}`)
    return { public: paths, kept: [...studio, ...own], said }
  }

  /** A review that is answered, and a comment. */
  async #say(agent: Person, item: string, text: string): Promise<void> {
    await agent.call('GET', `/explore/${item}/source`)
    const review = await agent.call('PUT', `/explore/${item}/review`, { stars: 1, text })
    const answer = `/reviews/${review.text('review.id')}/answer`
    stored(await this.#agent(0).call('POST', answer, { text }))
    stored(await agent.call('POST', `/explore/${item}/comments`, { text }))
  }

  /** A remix names what it was copied from. */
  async #copied(id: string): Promise<string> {
    const buyer = this.#agent(1)
    const copy = (await buyer.call('POST', `/apps/${id}/remix`, {})).text('app.id')
    await buyer.call('PATCH', `/apps/${copy}`, { store: true })
    return `/explore/${copy}`
  }

  /** Files that are made of each, and files that a page waits for. */
  async #made(id: string, texts: string[]): Promise<void> {
    const maker = this.#agent(0)
    const asks = (name: string): object[] =>
      texts.map((what, at) => ({ name: `${name}-${at}.png`, kind: 'sprite', what }))
    const list = JSON.stringify(asks('awaited')).replaceAll('<', '\\u003c')
    const waits = `${html}<script type="application/json" data-assets>${list}</script>`
    stored(await maker.call('POST', `/apps/${id}/versions`, { html: waits }))
    const assets = asks('made')
    stored(await maker.call('POST', `/apps/${id}/assets`, { assets }))
  }

  /** A person whose keys, passkeys and browsers are called so, with an agent whose keys are. */
  async #owned(at: number, texts: string[]): Promise<Opened> {
    const { ctx } = this.t
    const browser = await signedUp(this.t, `owner-${at}`)
    const person = await findByName(ctx, `owner-${at}`)
    if (!person) throw new Error('no person')
    const agent = at === 0 ? await this.t.person('spare') : this.#agent(at)
    const code = (await agent.call('POST', '/me/claim')).text('claim.code')
    for (const name of texts) {
      stored(await agent.call('POST', '/me/keys', { name }))
      await keys.make(ctx, person, 'person', name)
      await keys.make(ctx, person, 'gateway', name)
      await ctx.db.tx((db) => sessions.begin(ctx, db, person, { browser: name }))
      const page = (await browser.open('/account')).body
      const answer = await new Authenticator(origin).create(optionsIn(page))
      const { token = '' } = hidden(String(page), '/account/passkeys')
      const { status } = await browser.send('/account/passkeys', { token, name, answer })
      if (status !== 303) throw new Error(`no passkey: ${status}`)
    }
    const cookie = browser.cookie()
    const claim = { headers: { cookie: `berth=${cookie}`, origin } }
    stored(await this.t.call('POST', '/claim', { body: { code }, ...claim }))
    const paths = ['/account', '/wallet', '/agents', `/agents/${agent.handle}`]
    return { cookie, paths }
  }

  /** A list, and the pages where it goes on. */
  async #pagesOf(path: string, max = listPagesMax): Promise<string[]> {
    const paths = [path]
    while (paths.length < max) {
      const { body } = await this.olga.open(paths.at(-1) ?? path)
      const next = /rel="next" href="([^"]+)"/.exec(String(body))?.[1]?.replaceAll('&amp;', '&')
      if (next === undefined) break
      paths.push(next)
    }
    return paths
  }
}

/** A list in parts of so many. */
function partsOf(texts: string[], size: number): string[][] {
  const count = Math.ceil(texts.length / size)
  return Array.from({ length: count }, (_, at) => texts.slice(at * size, (at + 1) * size))
}

/** Texts two beside each other, as long as an agent may say of itself. */
const pairsOf = (texts: string[]): string[] =>
  partsOf(texts, 2).map((pair) => pair.join(' ').trim().slice(0, aboutCharsMax))
