import { checkerOf } from '../../core/taking.ts'
import { isPlainText } from '../../core/text.ts'
import { ApiError } from '../../errors.ts'
import * as apps from '../../hosting/apps/apps.ts'
import { change } from '../../hosting/apps/publish.ts'
import { remove } from '../../hosting/apps/removal.ts'
import { AppChange, type AppChangeShape } from '../../hosting/apps/schemas.ts'
import { shelfNames } from '../../hosting/apps/shelves.ts'
import * as assets from '../../hosting/assets/assets.ts'
import { appeal } from '../../hosting/moderation/appeals.ts'
import { undelete } from '../../hosting/moderation/holds.ts'
import { rescan } from '../../hosting/moderation/scans.ts'
import { restore } from '../../hosting/versions/versions.ts'
import { appealCharsMax, remixPriceCreditsMax } from '../../limits.ts'
import { inCredits } from '../amounts.ts'
import { type Form, numberOf, refuse } from '../people/form.ts'
import type { Studio, Tab } from './studio.ts'

/** What a form of a studio asks, the page it stands on, and what is said once it is done. */
interface Act {
  tab: Tab
  work(studio: Studio, form: Form): Promise<string | undefined>
}

const checkChange = checkerOf(AppChange)

/** Changes the fields of an app; answers that, and what became of it on Explore. */
const changing =
  (wanted: (form: Form) => AppChangeShape): Act['work'] =>
  async ({ own, agent, app }, form) => {
    const changes = wanted(form)
    checkChange(changes)
    return `Saved. ${(await change(own.ctx, agent, app.id, changes)).note}`
  }

const details = changing((form) => {
  const shelf = shelfNames.find((name) => name === form.text('shelf'))
  if (!shelf) refuse('Choose a shelf.')
  const title = form.text('title').trim() || refuse('Give it a title.')
  const description = form.text('description').replaceAll('\r\n', '\n')
  return { title, description, shelf, comments: form.has('comments') }
})

const terms = changing((form) => {
  const remix = (['off', 'free', 'price'] as const).find((name) => name === form.text('remix'))
  if (!remix) refuse('Choose whether it may be remixed.')
  if (remix !== 'price') return { remix }
  const priceRemix = numberOf(form, 'priceRemix') ?? 0
  if (!Number.isInteger(priceRemix) || priceRemix < 1 || priceRemix > remixPriceCreditsMax) {
    refuse(`A remix costs 1 to ${inCredits(remixPriceCreditsMax)} whole credits.`)
  }
  return { remix, priceRemix }
})

/** Names that forms send to, below /studio/<id>. */
const acts: Record<string, Act> = {
  restore: {
    tab: 'versions',
    async work({ own, agent, app }, form) {
      const version = Number(form.text('version'))
      await restore(own.ctx, agent, app.id, Number.isInteger(version) ? version : 0)
      return undefined
    },
  },
  upload: {
    tab: 'assets',
    async work({ own, agent, app }, form) {
      const file = form.file('file') ?? refuse('Choose a file.')
      await assets.put(own.ctx, agent, app.id, form.text('name').trim(), await file.bytes())
      return undefined
    },
  },
  remove: {
    tab: 'assets',
    async work({ own, agent, app }, form) {
      await assets.remove(own.ctx, agent, app.id, form.text('name'))
      return undefined
    },
  },
  details: { tab: 'listing', work: details },
  explore: { tab: 'listing', work: changing((form) => ({ store: form.text('store') === 'yes' })) },
  remix: { tab: 'listing', work: terms },
  delete: {
    tab: 'listing',
    async work({ own, agent, app }) {
      await remove(own.ctx, await apps.theOwn(own.ctx, agent, app.id))
      return undefined
    },
  },
  undelete: {
    tab: '',
    async work({ own, agent, app }) {
      await undelete(own.ctx, agent, app.id)
      return undefined
    },
  },
  rescan: {
    tab: 'safety',
    async work({ own, agent, app }) {
      await rescan(own.ctx, agent, app.id)
      return 'It was checked again.'
    },
  },
  appeal: {
    tab: 'safety',
    async work({ own, agent, app }, form) {
      const text = form.text('text').replaceAll('\r\n', '\n')
      if (text.trim() === '' || !isPlainText(text, appealCharsMax)) {
        refuse(
          `Say why it is fine, in plain text of at most ${appealCharsMax.toLocaleString('en')} characters.`,
        )
      }
      await appeal(own.ctx, agent, app.id, text)
      return undefined
    },
  },
}

/** The act of this name. Refuses not_found. */
export function theAct(name: string): Act {
  const found = Object.hasOwn(acts, name) ? acts[name] : undefined
  if (found) return found
  throw new ApiError('not_found', { what: 'address', see: 'The studio links to what there is.' })
}
