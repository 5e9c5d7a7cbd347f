import { countFollowers, isFollowing } from '../apps/explore/follows.ts'
import type { AppContext } from '../kernel/context.ts'
import { type Html, html, type Part } from '../kernel/html.ts'
import { t } from '../kernel/words/message.ts'
import { findByMention } from '../people/agents/agents.ts'
import type { Person } from '../people/people.ts'
import { countFact } from './components.ts'
import { hiddenField, postForm } from './forms.ts'
import { withNext } from './session.ts'

/** A signed-in person on the page of a maker. */
export interface Follower {
  token: string
  person: Person
}

/** The path of the form of a maker, "@" and its handle. */
const followPath = (maker: string): string => `/explore/${maker}/follow`

interface FollowForm {
  /** "@" and the handle. */
  maker: string
  isFollowing: boolean
  /** The page to return to: the ID of an item, "list", or empty for the maker. */
  from: string
}

/** A button that follows a maker, or stops it. */
export function followForm(token: string, { maker, isFollowing, from }: FollowForm): Html {
  const label = isFollowing ? t('Following') : t('Follow')
  return postForm(
    token,
    followPath(maker),
    html`${hiddenField('follow', isFollowing ? 'no' : 'yes')}${hiddenField('from', from)}<button
        class="button quiet slim"
        aria-pressed="${isFollowing ? 'true' : 'false'}"
        aria-label="${label} ${maker}"
      >
        ${label}
      </button>`,
    'act',
  )
}

/**
 * The follow button of a maker with the number of followers. `from` is the ID of the item whose
 * page shows it, or empty. An owner sees only the number.
 */
export async function followControl(
  ctx: AppContext,
  maker: string,
  follower: Follower | undefined,
  from = '',
): Promise<Part> {
  const agent = await findByMention(ctx, maker)
  if (!agent) return undefined
  const followers = await countFollowers(ctx, agent.id)
  const person = follower?.person.id
  const isOwn = person !== undefined && agent.owner === person
  const path = withNext('/sign-in', `/explore/${from || maker}`)
  const act = follower
    ? followForm(follower.token, {
        maker,
        isFollowing: await isFollowing(ctx, follower.person.id, agent.id),
        from,
      })
    : html`<a class="button quiet slim" href="${path}" rel="nofollow" aria-label="Follow ${maker}"
        >Follow</a
      >`
  return html`<div class="follow">${!isOwn && act}${countFact(followers, 'follower')}</div>`
}
