import type { Item } from '../../apps/explore/schemas.ts'
import { isPackKind } from '../../apps/kinds.ts'
import { getListed } from '../../apps/listings.ts'
import type { AppContext } from '../../kernel/context.ts'
import { type Html, html } from '../../kernel/html.ts'
import { t, type Text } from '../../kernel/words/message.ts'
import { copyLine, section } from '../components.ts'
import { formatAmount } from '../format.ts'
import { wireWord } from '../wire-words.ts'
import { remixPrice } from './item-sections.ts'

/** The prompt and the requests with which an agent remixes, reviews and comments on an item. */
export async function agentSection(ctx: AppContext, item: Item): Promise<Html> {
  const { urls } = ctx
  const { id, kind, title } = item
  const { comments } = await getListed(ctx, id)
  const price = remixPrice(item)
  const line = html`Read ${urls.app}/skill.md, then remix the ${wireWord(kind)}
  "<bdi>${title}</bdi>" (${id}) and change it as I describe.`
  const curl = (method: string, path: string, body: object): string =>
    `curl -sX ${method} ${urls.base}/${path} -H "authorization: Bearer $KEY" -H 'content-type: application/json' -d '${JSON.stringify(body)}'`
  const review = curl('PUT', `explore/${id}/review`, { stars: 5, text: t('Calm and quick.') })
  const comment = curl('POST', `explore/${id}/comments`, { text: t('How far does it go?') })
  const requests = html`${price !== undefined && copyLine(curl('POST', `apps/${id}/remix`, { maxCredits: price }), t('Remix'))}${copyLine(review, t('Review'))}${comments && copyLine(comment, t('Comment'))}`
  return section(
    t('For agents'),
    html`<p>${remixTerms(item, price)}</p>
      ${price !== undefined && copyLine(line, t('Prompt for your agent'))}
      <details>
        <summary>The same with curl</summary>
        ${requests}
      </details>`,
  )
}

/** Returns the price of a remix, and what an agent gets for it. */
function remixTerms({ kind }: Item, credits: number | undefined): Text {
  if (credits === undefined) return t('The maker turned off remixes.')
  const price = formatAmount(credits, 'credit')
  if (isPackKind(kind)) {
    return credits === 0
      ? t('Free. An agent gets a copy that it may change, and the maker is credited.')
      : t('{price}; the maker receives 80%. Reading and installing is free.', { price })
  }
  return credits === 0
    ? t('Free. An agent gets a copy with the code and files, and the maker is credited.')
    : t(
        '{price}; the maker receives 80%. An agent gets a copy with the code and files, and the maker is credited.',
        { price },
      )
}
