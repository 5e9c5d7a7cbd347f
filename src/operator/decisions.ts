import type { AppContext } from '../context.ts'
import { idPattern } from '../core/ids.ts'
import { isPlainText } from '../core/text.ts'
import { pause } from '../hosting/agents/spending.ts'
import { find } from '../hosting/apps/apps.ts'
import * as appeals from '../hosting/apps/appeal/appeals.ts'
import { note } from '../hosting/audit/audit.ts'
import * as moderation from '../hosting/moderation/moderation.ts'
import * as people from '../hosting/people/suspension.ts'
import { hideSaid } from '../hosting/reviews/removal.ts'
import { whyCharsMax } from '../limits.ts'
import { done, failed, type Outcome } from './outcome.ts'

/** A decision: what it is called with, what it does, and what it says when it did that. */
interface Verb {
  item: RegExp
  /** What it is about and what else it is told; what stands in <> is needed. */
  takes: string
  act: Act
  says: string
}

/**
 * Whether it was done; or what is to be said of it in the place of `says`. Undefined where `why` is
 * not what it takes.
 */
type Act = (
  ctx: AppContext,
  item: string,
  why: string,
  by?: string,
) => Promise<boolean | string | undefined>

/** Shows an app again, or says why it is not shown yet. */
const showing =
  (act: Act): Act =>
  async (ctx, id, why, by) => {
    const done = await act(ctx, id, why, by)
    const app = done ? await find(ctx, id) : undefined
    if (app?.heldBy === 'suspension') return 'stays held back while its maker is suspended'
    if (app && app.closed !== null) return 'stays deleted; its maker may bring it back'
    return app && app.heldFor !== null ? `stays held back: ${app.heldFor}` : done
  }

async function mayBuy(
  ctx: AppContext,
  handle: string,
  may: boolean,
  by = 'operator',
): Promise<boolean> {
  if (!(await pause(ctx, handle.slice(1), !may))) return false
  const entry = { by, did: may ? 'resume' : 'pause', item: handle, why: '' }
  await ctx.db.tx((db) => note(ctx, db, entry))
  return true
}

const suspend = (
  ctx: AppContext,
  who: string,
  why: string | null,
  by?: string,
): Promise<boolean> =>
  who.startsWith('@')
    ? moderation.suspend(ctx, who.slice(1), why, by)
    : people.suspend(ctx, who, why, by)

const page = /^[0-9a-f]{64}$/
const ofApp = { item: idPattern, takes: '<app id> [reason]' }
const ofAgent = { item: /^@[a-z0-9-]+$/, takes: '<@handle>' }
const ofAnyone = { item: /^@?[^\s@]\S{2,119}$/, takes: '<@handle|person>' }
const withReason = { takes: '<app id> <reason>' }

const verbs = {
  takedown: { ...ofApp, ...withReason, act: moderation.takeDown, says: 'is taken down' },
  restore: { ...ofApp, act: showing(moderation.restore), says: 'is live again' },
  hold: { ...ofApp, ...withReason, act: moderation.hold, says: 'is held back' },
  release: { ...ofApp, act: showing(moderation.release), says: 'is shown again' },
  dismiss: { ...ofApp, act: moderation.dismiss, says: 'has no open reports now' },
  decide: {
    ...ofApp,
    takes: '<app id> <grant|deny> <answer>',
    says: 'is decided; its maker is told',
    act: async (ctx, id, why, by) => {
      const [, word, answer] = /^(grant|deny) (.+)$/s.exec(why) ?? []
      return answer ? appeals.decide(ctx, id, word === 'grant', answer, by) : undefined
    },
  },
  rescan: {
    item: /^(all|[A-Za-z0-9_-]{12})$/,
    takes: '<app id|all>',
    says: 'will be read again by the safety check',
    act: (ctx, item, _, by) => moderation.readAgain(ctx, item, by),
  },
  suspend: {
    ...ofAnyone,
    takes: '<@handle|person> <reason>',
    says: 'is suspended',
    act: suspend,
  },
  unsuspend: {
    ...ofAnyone,
    says: 'goes on as before',
    act: (ctx, who, _, by) => suspend(ctx, who, null, by),
  },
  pause: {
    ...ofAgent,
    says: 'can buy nothing now',
    act: (ctx, handle, _, by) => mayBuy(ctx, handle, false, by),
  },
  resume: {
    ...ofAgent,
    says: 'can buy again',
    act: (ctx, handle, _, by) => mayBuy(ctx, handle, true, by),
  },
  hide: {
    item: idPattern,
    takes: '<review or comment id> <reason>',
    says: 'is out of sight',
    act: hideSaid,
  },
  block: {
    item: page,
    takes: '<sha256 of a page> <reason>',
    says: 'cannot come back',
    act: moderation.block,
  },
  unblock: {
    item: page,
    takes: '<sha256 of a page> [reason]',
    says: 'may come back',
    act: moderation.unblock,
  },
} satisfies Record<string, Verb>

export type Decision = keyof typeof verbs

export const isDecision = (word: string): word is Decision => Object.hasOwn(verbs, word)

/** Every decision as it is typed: "takedown <app id> <reason>". */
export const decisions = Object.entries(verbs).map(([name, { takes }]) => `${name} ${takes}`)

/**
 * Decides about an app, an agent, a page or a word, for the command line and for the console, and
 * writes down who did: `by`. Undefined where it is not called with what it takes.
 */
export async function decide(
  ctx: AppContext,
  name: Decision,
  said: { item: string; why: string; by?: string },
): Promise<Outcome | undefined> {
  const { item, why, by } = said
  const verb: Verb = verbs[name]
  const needed = verb.takes.match(/<[^>]+>/g)?.length ?? 0
  const words = [item, ...why.split(' ').filter(Boolean)]
  const isWhole = verb.item.test(item) && words.length >= needed
  if (!isWhole || !isPlainText(why, whyCharsMax)) return undefined
  const did = await verb.act(ctx, item, why, by)
  if (did === undefined) return undefined
  if (did) return done(`${item} ${did === true ? verb.says : did}.`)
  return failed(`Nothing to ${name}: there is no such ${item}, or it is so already.`)
}
