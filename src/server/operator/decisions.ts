import { findApp } from '../../apps/apps.ts'
import * as moderation from '../../apps/moderation/moderation.ts'
import { hideFeedback } from '../../apps/reviews/imported.ts'
import type { AppContext } from '../../kernel/context.ts'
import { rejectRequest } from '../../kernel/errors.ts'
import { idPattern } from '../../kernel/ids.ts'
import { decisionReasonCharsMax } from '../../kernel/limits.ts'
import { isPlainText } from '../../kernel/text.ts'
import {
  type RestrictionKind,
  setRestriction,
  subjectPattern,
} from '../../money/keys/restrictions.ts'
import { pauseAgent } from '../../people/agents/spending.ts'
import { recordAudit } from '../../people/audit/audit.ts'
import * as people from '../../people/sessions.ts'
import { type CommandResult, failed, succeeded } from './command-result.ts'

interface DecisionKind {
  item: RegExp
  /** The item and further words; those in <> are required. */
  usage: string
  apply: Apply
  /** Completes "<item> …" after a success. */
  done: string
}

/** Returns whether it applied, or a text in place of `done`; undefined where `why` is malformed. */
type Apply = (
  ctx: AppContext,
  item: string,
  why: string,
  by: string,
) => Promise<boolean | string | undefined>

/** Adds to a decision that shows an app again the reason for which it stays hidden. */
const reporting =
  (apply: Apply): Apply =>
  async (ctx, id, why, by) => {
    const done = await apply(ctx, id, why, by)
    const app = done ? await findApp(ctx, id) : undefined
    if (app?.quarantinedBy === 'suspension') return 'stays quarantined while its maker is suspended'
    if (app && app.closed !== null) return 'stays deleted; its maker can restore it'
    return app && app.quarantineReason !== null
      ? `stays quarantined: ${app.quarantineReason}`
      : done
  }

async function setSpending(
  ctx: AppContext,
  handle: string,
  isAllowed: boolean,
  by: string,
): Promise<boolean> {
  if (!(await pauseAgent(ctx, handle.slice(1), !isAllowed))) return false
  const entry = { by, did: isAllowed ? 'resume' : 'pause', item: handle, why: '' }
  await ctx.db.tx((db) => recordAudit(ctx, db, entry))
  return true
}

/** Slows down or blocks a network, key or account, or lifts the restriction. */
async function restrict(
  ctx: AppContext,
  item: string,
  kind: RestrictionKind | null,
  why: string,
  by: string,
): Promise<boolean> {
  const did = kind === null ? 'allow' : kind === 'slow' ? 'slow' : 'ban'
  const isChanged = await ctx.db.tx(async (db) => {
    const isNew = await setRestriction(ctx, db, item, kind)
    if (isNew) await recordAudit(ctx, db, { by, did, item, why })
    return isNew
  })
  await ctx.restrictions.reload()
  return isChanged
}

const suspend = (
  ctx: AppContext,
  owner: string,
  why: string | null,
  by: string,
): Promise<boolean> =>
  owner.startsWith('@')
    ? moderation.suspend(ctx, owner.slice(1), why, by)
    : people.suspendPerson(ctx, owner, why, by)

const page = /^[0-9a-f]{64}$/
const ofApp = { item: idPattern, usage: '<app id> [reason]' }
const ofAgent = { item: /^@[a-z0-9-]+$/, usage: '<@handle>' }
const ofAnyone = { item: /^@?[^\s@]\S{2,119}$/, usage: '<@handle|person>' }
const personName = /^[^\s@]\S{2,119}$/
const ofClient = { item: subjectPattern, usage: '<address:network|key:prefix|account:id> [reason]' }
const withReason = { usage: '<app id> <reason>' }

const kinds = {
  takedown: { ...ofApp, ...withReason, apply: moderation.takeDown, done: 'is taken down' },
  restore: { ...ofApp, apply: reporting(moderation.reinstate), done: 'is live again' },
  hold: { ...ofApp, ...withReason, apply: moderation.quarantine, done: 'is quarantined' },
  release: { ...ofApp, apply: reporting(moderation.release), done: 'is released from quarantine' },
  dismiss: { ...ofApp, apply: moderation.dismiss, done: 'has no open reports now' },
  decide: {
    ...ofApp,
    usage: '<app id> <grant|deny> <answer>',
    done: 'has its appeal decided; the maker is notified',
    apply: async (ctx, id, why, by) => {
      const [, word, answer] = /^(grant|deny) (.+)$/s.exec(why) ?? []
      return answer ? moderation.decideAppeal(ctx, id, word === 'grant', answer, by) : undefined
    },
  },
  rescan: {
    item: /^(all|[A-Za-z0-9_-]{12})$/,
    usage: '<app id|all>',
    done: 'will be scanned again',
    apply: (ctx, item, _, by) => moderation.rescan(ctx, item, by),
  },
  suspend: {
    ...ofAnyone,
    usage: '<@handle|person> <reason>',
    done: 'is suspended',
    apply: suspend,
  },
  unsuspend: {
    ...ofAnyone,
    done: 'is no longer suspended',
    apply: (ctx, owner, _, by) => suspend(ctx, owner, null, by),
  },
  pause: {
    ...ofAgent,
    done: 'cannot spend credits now',
    apply: (ctx, handle, _, by) => setSpending(ctx, handle, false, by),
  },
  resume: {
    ...ofAgent,
    done: 'can spend credits again',
    apply: (ctx, handle, _, by) => setSpending(ctx, handle, true, by),
  },
  slow: {
    ...ofClient,
    done: 'has 12 requests a minute now',
    apply: (ctx, item, why, by) => restrict(ctx, item, 'slow', why, by),
  },
  ban: {
    ...ofClient,
    done: 'is blocked',
    apply: (ctx, item, why, by) => restrict(ctx, item, 'block', why, by),
  },
  allow: {
    ...ofClient,
    done: 'has its usual limits again',
    apply: (ctx, item, why, by) => restrict(ctx, item, null, why, by),
  },
  hide: {
    item: idPattern,
    usage: '<review or comment id> <reason>',
    done: 'is hidden',
    apply: hideFeedback,
  },
  'hide-page': {
    item: personName,
    usage: '<person> <reason>',
    done: 'has no public page now',
    apply: moderation.hidePage,
  },
  'show-page': {
    item: personName,
    usage: '<person>',
    done: 'can show a page again',
    apply: (ctx, name, _, by) => moderation.showPage(ctx, name, by),
  },
  'dismiss-page': {
    item: personName,
    usage: '<person> [reason]',
    done: 'has no open reports now',
    apply: moderation.dismissPage,
  },
  block: {
    item: page,
    usage: '<sha256 of a page> <reason>',
    done: 'cannot be published again',
    apply: moderation.block,
  },
  unblock: {
    item: page,
    usage: '<sha256 of a page> [reason]',
    done: 'can be published again',
    apply: moderation.unblock,
  },
} satisfies Record<string, DecisionKind>

export type Decision = keyof typeof kinds

export const isDecision = (word: string): word is Decision => Object.hasOwn(kinds, word)

export const decisionNames = Object.keys(kinds).filter(isDecision)

/** The usage of every decision: "takedown <app id> <reason>". */
export const decisions = Object.entries(kinds).map(([name, { usage }]) => `${name} ${usage}`)

/**
 * Applies a decision of the operator, from the command line or the console, and records `by` in the
 * audit log. Returns undefined where `item` or `why` does not fit the decision.
 */
export async function decide(
  ctx: AppContext,
  name: Decision,
  { item, why, by }: { item: string; why: string; by: string },
): Promise<CommandResult | undefined> {
  const { item: pattern, usage, apply, done }: DecisionKind = kinds[name]
  const required = usage.match(/<[^>]+>/g)?.length ?? 0
  const words = [item, ...why.split(' ').filter(Boolean)]
  const isComplete = pattern.test(item) && words.length >= required
  if (!isComplete || !isPlainText(why, decisionReasonCharsMax)) return undefined
  const result = await apply(ctx, item, why, by)
  if (result === undefined) return undefined
  const effect = result === true ? done : result
  if (effect) return succeeded(`${item} ${effect}.`, { decision: name, item, effect })
  return failed(`Nothing to ${name}: ${item} does not exist or is already in that state.`)
}

/**
 * Applies a decision from the console or the API. Throws `bad_request` without a
 * reason that is required, and where it was decided before.
 */
export async function applyDecision(
  ctx: AppContext,
  { decision, item, why, by }: { decision: Decision; item: string; why: string; by: string },
): Promise<void> {
  const outcome = await decide(ctx, decision, { item, why: why.trim(), by })
  if (!outcome) rejectRequest(reasonMessage(why))
  if (!outcome.ok) {
    rejectRequest(
      'Nothing changed: this was already decided, here or in another tab. Reload the page.',
    )
  }
  // An app that was quarantined for reports has both decided.
  if (decision === 'release') await decide(ctx, 'dismiss', { item, why: '', by })
}

function reasonMessage(why: string): string {
  return isPlainText(why, decisionReasonCharsMax)
    ? 'Enter a reason. The person or agent concerned receives it.'
    : `Enter a reason in plain text of at most ${decisionReasonCharsMax.toLocaleString('en')} characters.`
}
