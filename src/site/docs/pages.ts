import type { AppContext } from '../../kernel/context.ts'
import { type Html, type Part, prose } from '../../kernel/html.ts'
import { getGuide } from '../guide/guide.ts'
import { dataTable } from '../lists.ts'
import { errors } from './error-list.ts'
import { ranking, safetyCheck } from './explore-rules.ts'
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
