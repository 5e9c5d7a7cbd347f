import { hour } from '../core/time.ts'
import * as keys from '../hosting/people/keys.ts'
import * as sessions from '../hosting/people/sessions.ts'
import { Catalogue } from '../models/catalogue.ts'
import { type Answer, openTestHouse, type Person, type TestHouse } from './house.ts'
import { testModel } from './models.ts'
import { claimedBy, operating } from './pages.ts'
import { payloads } from './payloads.ts'
import { newOwner } from './people.ts'

/** As many texts as stand in one list; pages show about twenty of a thing. */
const atOnce = 18
const html = '<!doctype html><title>x</title>x'
const free = {
  REQUESTS_PER_MINUTE: '0',
  PUBLISHES_PER_HOUR: '0',
  KEYS_PER_ADDRESS_DAY: '0',
  KEYS_PER_DAY: '0',
}

/** Addresses to open, as who is signed in by a cookie or as anyone. */
export interface Opened {
  cookie?: string | undefined
  paths: string[]
}

/** Puts every payload into every text field that a page shows, through the APIs. */
export class Poisoned {
  readonly #agents: Person[] = []
  readonly #parts: string[][] = []
  #operator = ''
  /** Pages of one app and its owner, where each text stands but once. */
  #last: string[] = []

  private constructor(readonly t: TestHouse) {}

  static async open(): Promise<Poisoned> {
    const model = (name: string, at: number) =>
      testModel({ prompt: '0.000001', completion: '0.000001' }, { id: `evil/m${at}`, name })
    const t = await openTestHouse(free, { catalogue: new Catalogue(payloads.map(model)) })
    const made = new Poisoned(t)
    const olga = await operating(t)
    made.#operator = olga.cookie() ?? ''
    for (let at = 0; at < payloads.length; at += atOnce) {
      made.#parts.push(payloads.slice(at, at + atOnce))
    }
    for (let at = 0; at <= atOnce; at += 1) made.#agents.push(await t.person(`maker-${at}x`))
    await claimedBy(olga, made.#agent(0))
    return made
  }

  /** The pages that show what was stored, in rounds: some of them show one text at a time. */
  async *rounds(): AsyncGenerator<Opened[]> {
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
      yield [
        { paths: [...items.public, ...makers, ...asked] },
        { cookie: this.#operator, paths: items.kept },
        await this.#owned(at, texts),
      ]
    }
    yield [
      { paths: await this.#shelves() },
      { paths: [1, 2, 3, 4].map((page) => `/catalogue?page=${page}`) },
      { cookie: this.#operator, paths: [...consolePaths, ...this.#last] },
    ]
  }

  #agent(at: number): Person {
    const agent = this.#agents[at]
    if (!agent) throw new Error(`no agent ${at}`)
    return agent
  }

  /** An item for each text, and one that all are said of; and what only its owner sees. */
  async #items(at: number, texts: string[]): Promise<{ public: string[]; kept: string[] }> {
    const maker = this.#agent(0)
    const said = await maker.publish({ store: true })
    const told = await maker.publish({ html: `${html}<!-- ${texts[0] ?? ''} -->` })
    const paths = [`/explore/${said}`]
    for (const [n, text] of texts.entries()) {
      const about = { title: text, description: text, store: true }
      const id = (await maker.call('POST', '/apps', { html, ...about })).text('app.id')
      paths.push(`/explore/${id}`)
      stored(await maker.call('POST', `/apps/${said}/versions`, { html, note: text }))
      await this.#say(this.#agent(n + 1), said, text)
      const words = { item: told, reason: 'other', text, contact: text }
      stored(await this.t.call('POST', '/report', { body: words, from: `198.51.${at}.${n}` }))
      if (n > 0) continue
      paths.push(await this.#copied(id), `/report/${id}`)
      this.#last = [...ownPaths(maker.handle), ...studioPaths(id)]
    }
    const notes = `/agents/${maker.handle}/notes`
    return { public: paths, kept: [`/studio/${said}/versions`, notes, `/console/apps/${told}`] }
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

  /** A person whose keys and browsers are called so, with an agent whose keys are. */
  async #owned(at: number, texts: string[]): Promise<Opened> {
    const { house } = this.t
    const { person } = await newOwner(this.t, `owner-${at}`)
    const agent = at === 0 ? await this.t.person('spare') : this.#agent(at)
    const code = (await agent.call('POST', '/me/claim')).text('claim.code')
    let cookie = ''
    for (const name of texts) {
      stored(await agent.call('POST', '/me/keys', { name }))
      await keys.make(house, person, 'person', name)
      await keys.make(house, person, 'gateway', name)
      cookie = await house.db.tx((db) => sessions.begin(house, db, person.id, { browser: name }))
    }
    const paths = [`/claim/${code}`, '/account', '/wallet', `/agents/${agent.handle}`]
    const claim = { headers: { cookie: `berth=${cookie}`, origin: 'http://localhost:3000' } }
    stored(await this.t.call('POST', '/claim', { body: { code }, ...claim }))
    return { cookie, paths }
  }

  /** All of Explore, page by page, and what programs read. */
  async #shelves(): Promise<string[]> {
    const paths = ['/', '/explore', '/api/explore/feed.atom', '/api/explore/feed.json']
    let next: string | undefined = '/explore'
    while (next !== undefined) {
      const page = await this.t.visit('GET', next, { headers: { accept: 'text/html' } })
      next = /rel="next" href="([^"]+)"/.exec(String(page.body))?.[1]?.replaceAll('&amp;', '&')
      if (next !== undefined) paths.push(next)
    }
    return [...paths, '/sitemap.xml', '/docs']
  }
}

/** A text that was refused would prove nothing. */
function stored({ status, body }: Answer): void {
  if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`)
}

/** Two texts beside each other, where there is room for them. */
const pairsOf = (texts: string[]): string[] =>
  texts.flatMap((text, at) =>
    at % 2 === 0 ? [`${text} ${texts[at + 1] ?? ''}`.trim().slice(0, 160)] : [],
  )

/** Where a text is asked for rather than kept; the last ones in turns. */
function askedFor(text: string, turn: number): string[] {
  const q = encodeURIComponent(text)
  const odd = [`/${q}`, `/explore/${q}`, `/sign-in?next=${q}`, `/claim/${q}`, `/catalogue?q=${q}`]
  return [`/explore?q=${q}`, odd[turn % odd.length] ?? '/']
}

const ownPaths = (handle: string): string[] => [
  '/agents',
  ...['', '/apps', '/ledger'].map((list) => `/agents/${handle}${list}`),
]

const studioPaths = (id: string): string[] =>
  ['', '/versions', '/assets', '/listing', '/safety'].map((tab) => `/studio/${id}${tab}`)

const consolePaths = [
  '/console',
  ...['queue', 'agents', 'people', 'models', 'audit', 'settings'].map((name) => `/console/${name}`),
]
