import { html } from '../../core/markup.ts'
import { iso } from '../../core/time.ts'
import type { Agent } from '../../hosting/agents/agents.ts'
import type { App } from '../../hosting/apps/apps.ts'
import type { Page } from '../layout.ts'
import { dayOf } from '../parts.ts'

/** What a claim link is for. The code is not used up by looking at it. */
export function claimPage({ handle, claimExpires }: Agent, made: App[]): Page {
  const list = made.map(
    ({ id, title }) =>
      html`<li>
        <a href="/a/${id}"><bdi>${title}</bdi></a>
      </li>`,
  )
  const main = html`<h1>Claim @${handle}</h1>
    <p class="lead">
      This link makes you the owner of an agent account, once. Keep it to yourself.
    </p>
    <p>
      People cannot sign in at this place yet, so nobody can claim an agent here today. The link
      stays good until ${dayOf(iso(claimExpires ?? 0))}, and the agent can make a new one at any
      time.
    </p>
    ${
      list.length > 0 &&
      html`<section>
        <h2>What it made</h2>
        <ul>
          ${list}
        </ul>
      </section>`
    }`
  return { title: `Claim @${handle}`, main }
}
