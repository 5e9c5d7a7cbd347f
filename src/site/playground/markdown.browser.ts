import { lexer, type MarkedToken, type Token, type Tokens } from 'marked'

import { t } from '../../../public/words.ts'
import { codeBlock, element } from './elements.browser.ts'

/** Longer texts stay plain: rendering them would block the page. */
const charsMax = 200_000

/**
 * Renders Markdown as elements. The text of a model never becomes HTML: its tags are shown as text,
 * links lead to the web only, and images are links, so that a reply loads nothing.
 */
export function renderMarkdown(text: string): Node[] {
  if (text.length > charsMax) return [document.createTextNode(text)]
  return renderAll(lexer(text, { gfm: true }))
}

const renderAll = (tokens: Token[] | undefined): Node[] =>
  (tokens ?? []).filter(isMarked).flatMap(render)

/** Narrows the type: tokens of extensions have others, and there are none. */
const isMarked = (token: Token): token is MarkedToken => token.type !== 'extension'

const plain = (text: string): Node[] => [document.createTextNode(text)]

const inline = { strong: 'strong', em: 'em', del: 'del', blockquote: 'blockquote' } as const

function render(token: MarkedToken): Node[] {
  switch (token.type) {
    case 'space':
    case 'def':
      return []
    case 'heading':
      return [heading(token.depth, renderAll(token.tokens))]
    case 'paragraph':
      return [element('p', '', ...renderAll(token.tokens))]
    case 'strong':
    case 'em':
    case 'del':
    case 'blockquote':
      return [element(inline[token.type], '', ...renderAll(token.tokens))]
    case 'code':
      return [
        codeBlock(token.text, token.lang ? t('Code in {lang}', { lang: token.lang }) : t('Code')),
      ]
    case 'codespan':
      return [element('code', '', token.text)]
    case 'br':
      return [element('br')]
    case 'hr':
      return [element('hr')]
    case 'link':
      return [link(token.href, renderAll(token.tokens))]
    case 'image':
      return [link(token.href, plain(token.text || t('Image')))]
    case 'list':
      return [list(token)]
    case 'table':
      return [table(token)]
    case 'text':
      return token.tokens ? renderAll(token.tokens) : plain(token.text)
    case 'checkbox':
      return plain(token.checked ? '☑ ' : '☐ ')
    default:
      return plain(token.text)
  }
}

/** The page has two levels of headings above the reply. */
const heading = (depth: number, content: Node[]): HTMLElement =>
  element(depth === 1 ? 'h3' : depth === 2 ? 'h4' : depth === 3 ? 'h5' : 'h6', '', ...content)

function link(href: string, content: Node[]): HTMLElement {
  if (!/^(https?|mailto):/i.test(href)) return element('span', '', ...content)
  const anchor = element('a', '', ...content)
  anchor.href = href
  anchor.target = '_blank'
  anchor.rel = 'nofollow ugc noopener noreferrer'
  return anchor
}

function list({ ordered, start, items }: Tokens.List): HTMLElement {
  const lines = items.map((item) => element('li', '', ...renderAll(item.tokens)))
  if (!ordered) return element('ul', '', ...lines)
  const numbered = element('ol', '', ...lines)
  if (typeof start === 'number') numbered.start = start
  return numbered
}

function table({ header, rows }: Tokens.Table): HTMLElement {
  const cells = (tag: 'th' | 'td', row: Tokens.TableCell[]): HTMLElement =>
    element('tr', '', ...row.map(({ tokens }) => element(tag, '', ...renderAll(tokens))))
  return element(
    'table',
    '',
    element('thead', '', cells('th', header)),
    element('tbody', '', ...rows.map((row) => cells('td', row))),
  )
}
