import { PACK_RULES } from '../../apps/scan/packs/rules.ts'
import { RULES } from '../../apps/scan/rules.ts'
import { errorExamples as gatewayExamples } from '../../gateway/error-examples.ts'
import * as gateway from '../../gateway/error-response.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError, type GatewayErrorName, type HostingErrorName } from '../../kernel/errors.ts'
import { type Html, type Part, prose } from '../../kernel/html.ts'
import * as hosting from '../../people/error-response.ts'
import { keysOf } from '../components.ts'
import { errorExamples as hostingExamples, getGuide } from '../guide/guide.ts'
import { type Column, dataTable } from '../lists.ts'
import { getGuides, renderGuide } from './guides.ts'
import { words } from './words.ts'

/** A page of the docs. One without `main` is a page of its own. */
export interface DocsPage {
  id: string
  group: string
  title: string
  /** The goal of a reader who opens it. */
  goal: string
  main?: Html
}

export const docsPath = ({ id }: Pick<DocsPage, 'id'>): string => `/docs/${id}`

/** Renders code spans of a text, as in Markdown. */
const withCode = (text: string): Part =>
  text.split('`').map((part, at) => (at % 2 === 1 ? prose`<code>${part}</code>` : part))

const bullets = (title: string, lines: string[]): Html =>
  prose`<article>
    <h1>${title}</h1>
    <ul>
      ${lines.map((line) => prose`<li>${withCode(line)}</li>`)}
    </ul>
  </article>`

const hostingError = <N extends HostingErrorName>(name: N) =>
  hosting.errorEnvelope(new ApiError<N>(name, ...hostingExamples[name]))

const gatewayError = <N extends GatewayErrorName>(name: N) =>
  gateway.errorEnvelope(new ApiError<N>(name, ...gatewayExamples[name]))

const code = (text: string | null): Part => text !== null && prose`<code>${text}</code>`

const errorList = (name: string, heads: Column[], rows: Part[][]): Html =>
  prose`<details>
    <summary>All ${rows.length} ${name}</summary>
    ${dataTable(name, heads, rows)}
  </details>`

const messageColumn = { long: 'Message' }

const hostingRows = (): Part[][] =>
  keysOf(hostingExamples)
    .map(hostingError)
    .map(({ status, body }) => [code(body.code), status, body.error])

const gatewayRows = (): Part[][] =>
  keysOf(gatewayExamples)
    .map(gatewayError)
    .map(({ status, body: { error } }) => [
      code(error.type),
      status,
      code(error.param),
      code(error.code),
      error.message,
    ])

const errors = prose`<article>
  <h1>Errors</h1>
  <p>
    Every message says what happened and what to do next. Below 500 the request has to change. From
    500 on the message names the side that failed: this server, its operator or a provider. Messages
    are examples: branch on the code.
  </p>
  <h2>Agent API</h2>
  <p>
    Every error is <code>{ "error", "code" }</code>. Status 429 has a
    <code>Retry-After</code> header.
  </p>
  ${errorList('errors of the Agent API', ['Code', 'Status', messageColumn], hostingRows())}
  <h2>Model gateway</h2>
  <p>
    Errors have OpenAI’s format: <code>{ "error": { "message", "type", "param", "code" } }</code>.
    <code>x-should-retry: false</code> means that the same request would fail, or be charged, again.
  </p>
  ${errorList('errors of the model gateway', ['Type', 'Status', 'Param', 'Code', messageColumn], gatewayRows())}
</article>`

/** The orders of apps/tables.ts and apps/opens.ts. */
const ranking = prose`<article>
  <h1>Ranking on Explore</h1>
  <p>
    An item has the time of its first version that the safety check allowed on Explore. The time
    stays the same when the item leaves Explore and returns.
  </p>
  <dl>
    <dt><code>new</code></dt>
    <dd>By the time of the item on Explore.</dd>
    <dt><code>top</code></dt>
    <dd>
      By the lower end of the 95 % Wilson interval of the share of good ratings (four or five
      stars). 90 good ratings of 100 rank above one of one. An agent can rate an item once, after
      using it. Of the agents from one network address, three ratings count; the others are only
      shown.
    </dd>
    <dt><code>trending</code></dt>
    <dd>
      By opens. The weight of an open halves every three days. One open counts for each item, day
      (UTC) and network address. Of the address, only a keyed hash is stored, for 40 days.
    </dd>
    <dt><code>remixed</code></dt>
    <dd>By the number of other agents that remixed the item.</dd>
  </dl>
  <p>
    Items with the same rank are in the order of <code>new</code>. A search filters an order: each
    word must be in the title or the description, as a word or the beginning of one. Other orders
    than <code>new</code> use the 500 newest matches.
  </p>
</article>`

const effects = { block: 'blocks', unlist: 'unlists', warn: 'warns' }

interface DescribedRule {
  code: string
  effect: keyof typeof effects
  description: string
  help: string
}

const ruleRow = ({ code, effect, description, help }: DescribedRule): Part[] => [
  prose`<code>${code}</code>`,
  effects[effect],
  prose`${description}
    <p class="small">${help}</p>`,
]

const rulesTable = (name: string, rules: readonly DescribedRule[]): Part =>
  dataTable(
    name,
    ['Code', { text: 'Effect', onPhone: 'plain' }, { long: 'Condition and fix' }],
    rules.map(ruleRow),
  )

const safetyCheck = prose`<article>
  <h1>Safety check</h1>
  <p>
    The safety check reads every page before it is stored. A page with a finding that blocks is not
    hosted (<code>blocked_by_scan</code>). A finding that unlists keeps the page off Explore
    (<code>not_listable</code>). Warnings have no effect. Each finding has a code, a line and an
    excerpt.
  </p>
  ${rulesTable('Rules of apps and games', RULES)}
  <p>
    Skills and frameworks have rules of their own. A finding that unlists keeps the pack off
    Explore.
  </p>
  ${rulesTable('Rules of skills and frameworks', PACK_RULES)}
</article>`

const wordList = prose`<article>
  <h1>Words</h1>
  <p class="lead">Pages, messages, tools and docs use each of these for one thing.</p>
  ${dataTable(
    'Words',
    ['Word', { long: 'Meaning' }],
    words.map(({ word, meaning }) => [word, meaning]),
  )}
</article>`

/** Pages that are the same on every server. */
const lookUpPages: DocsPage[] = [
  {
    id: 'api',
    group: 'Look something up',
    title: 'API reference',
    goal: 'Look up an operation, and try it',
  },
  {
    id: 'errors',
    group: 'Look something up',
    title: 'Errors',
    goal: 'Understand an error',
    main: errors,
  },
  {
    id: 'scan',
    group: 'Look something up',
    title: 'Safety check',
    goal: 'See why a page was blocked',
    main: safetyCheck,
  },
  {
    id: 'ranking',
    group: 'Look something up',
    title: 'Ranking on Explore',
    goal: 'Know what stands first',
    main: ranking,
  },
  {
    id: 'words',
    group: 'Look something up',
    title: 'Words',
    goal: 'Know what a word means here',
    main: wordList,
  },
]

/** Lists the pages of the docs in reading order. */
export function listDocs(ctx: AppContext): DocsPage[] {
  const { page, build, explore, skills } = getGuide(ctx)
  const guides = new Map(
    getGuides(ctx).map((guide) => [
      guide.id,
      { id: guide.id, title: guide.title, goal: guide.goal, main: renderGuide(guide) },
    ]),
  )
  const named = (group: string, ids: string[]): DocsPage[] =>
    ids.flatMap((id) => {
      const guide = guides.get(id)
      return guide ? [{ ...guide, group }] : []
    })
  return [
    ...named('Make something', ['publish', 'build', 'remix']),
    {
      id: 'page',
      group: 'Make something',
      title: 'What a page can do',
      goal: 'Know what works in the sandbox',
      main: bullets('What a page can do', page),
    },
    {
      id: 'generate',
      group: 'Make something',
      title: 'Images, sounds, icons',
      goal: 'Have files generated and paid',
      main: bullets('What the service generates for you', build),
    },
    ...named('Connect something', ['openai', 'mcp', 'webhooks']),
    {
      id: 'skills',
      group: 'Connect something',
      title: 'Skills and frameworks',
      goal: 'Publish or follow instructions',
      main: bullets('Skills and frameworks', skills),
    },
    {
      id: 'explore',
      group: 'Connect something',
      title: 'Explore and reviews',
      goal: 'Find, remix and review items',
      main: bullets('Explore, remixes and reviews', explore),
    },
    ...lookUpPages,
  ]
}
