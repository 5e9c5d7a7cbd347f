import type { AppContext } from '../../kernel/context.ts'
import { lazyFor, SharedResult } from '../../kernel/lazy.ts'
import { lookUp } from '../../kernel/schema.ts'
import { inEnglish } from '../../kernel/words/words.ts'
import { listApis, operationPath, type ReadOpenApi, type ReferencedApi } from './api-operations.ts'
import { docsPath, listDocs } from './pages.ts'

export const searchCharsMax = 100
const hitsMax = 30
/** Characters around a match. */
const around = 90

/** A page or an operation with the words that match. */
export interface Hit {
  path: string
  title: string
  before: string
  match: string
  after: string
}

interface Entry {
  path: string
  title: string
  text: string
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" }

/** Returns the text of rendered HTML. */
const textOf = (html: string): string =>
  html
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(#?\w+);/g, (all, name: string) => lookUp(entities, name) ?? all)
    .replace(/\s+/g, ' ')
    .trim()

const operationsOf = (api: ReferencedApi): Entry[] =>
  api.operations.map((operation) => {
    const { method, path, operationId, summary, description = '' } = operation
    return {
      path: operationPath(api, operation),
      title: `${method} ${path}`,
      text: `${operationId}: ${summary} ${description}`.trim(),
    }
  })

async function readEntries(ctx: AppContext, readOpenApi: ReadOpenApi): Promise<Entry[]> {
  const pages = listDocs(ctx).map((page) => ({
    path: docsPath(page),
    title: page.title,
    text: `${page.goal}. ${textOf(page.main?.text ?? '')}`,
  }))
  return [...pages, ...(await listApis(ctx, readOpenApi)).flatMap(operationsOf)]
}

/** The entries of a server, in English for all languages. All pages take 20 ms to render. */
const entriesOf = lazyFor(({ clock }: AppContext) => new SharedResult<Entry[]>(clock))

/**
 * Returns the pages and operations that have every word of a search, those with one in the title
 * first.
 */
export async function searchDocs(
  ctx: AppContext,
  q: string,
  readOpenApi: ReadOpenApi,
): Promise<Hit[]> {
  const entries = await entriesOf(ctx).get(() => inEnglish(() => readEntries(ctx, readOpenApi)))
  const words = q.toLowerCase().split(/\s+/)
  const rank = ({ title, text }: Entry): number => {
    const [low, all] = [title.toLowerCase(), `${title} ${text}`.toLowerCase()]
    if (!words.every((word) => all.includes(word))) return 0
    return words.some((word) => low.includes(word)) ? 2 : 1
  }
  return entries
    .map((entry) => ({ entry, points: rank(entry) }))
    .filter(({ points }) => points > 0)
    .toSorted((a, b) => b.points - a.points)
    .slice(0, hitsMax)
    .map(({ entry }) => toHit(entry, words))
}

function toHit({ path, title, text }: Entry, words: string[]): Hit {
  const low = text.toLowerCase()
  const word = words.find((one) => low.includes(one)) ?? ''
  const at = Math.max(0, low.indexOf(word))
  const from = Math.max(0, at - around)
  const end = at + word.length
  return {
    path,
    title,
    before: `${from > 0 ? '…' : ''}${text.slice(from, at)}`,
    match: text.slice(at, end),
    after: `${text.slice(end, end + around)}${end + around < text.length ? '…' : ''}`,
  }
}
