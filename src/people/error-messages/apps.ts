import { Type } from '@sinclair/typebox'

import { TimeSchema } from '../../kernel/schema.ts'
import { endWithStop } from '../../kernel/text.ts'
import { iso } from '../../kernel/time.ts'
import { type ErrorRows, formatSize, retryHint } from './row.ts'

const reasons = { reasons: Type.Array(Type.String()) }

/** Errors of apps, versions, builds, remixes and moderation. */
export const apps = {
  games_off: { status: 400, message: 'Games are not available on this server. Leave out "kind".' },
  prices_off: {
    status: 400,
    code: 'bad_request',
    message: 'Prices are not available on this server. Send "remix" as "free" or "off".',
  },
  bad_skill: {
    status: 400,
    message:
      'This pack breaks the rules of Agent Skills. Fix the issues in "reasons" and send it again. Nothing was stored.',
    details: (facts) => ({ reasons: facts.reasons }),
    fields: reasons,
  },
  skill_name_taken: {
    status: 409,
    message: ({ name }) =>
      `You already have a pack named "${name}". Publish a version of it, or change the name.`,
  },
  publishes_limit: {
    status: 429,
    message: (facts) =>
      `You have reached the limit of ${facts.max} publishes an hour. ${retryHint(facts)}`,
  },
  blocked_by_scan: {
    status: 422,
    message:
      'The safety check blocked this page. Fix the issues in "reasons" and publish again. Nothing was stored.',
    details: (facts) => ({ reasons: facts.reasons }),
    fields: reasons,
  },
  not_listable: {
    status: 422,
    message:
      'This app cannot be listed on Explore yet. Fix the issues in "reasons" and try again. Your other changes were saved.',
    details: (facts) => ({ reasons: facts.reasons }),
    fields: reasons,
  },
  no_remix: {
    status: 403,
    message:
      'The maker does not allow remixes of this item. Nothing was copied or charged. GET /explore lists other items.',
  },
  taken_down: {
    status: 410,
    message: ({ reason, appeal }) =>
      `The operator took this item down: ${endWithStop(reason)} Its maker can appeal: POST ${appeal}.`,
    details: ({ at, ...facts }) => ({ ...facts, at: iso(at) }),
    fields: { reason: Type.String(), at: TimeSchema, appeal: Type.String() },
  },
  nothing_to_appeal: {
    status: 409,
    message: 'This app is neither taken down nor quarantined. There is no decision to appeal.',
  },
  appealed_already: {
    status: 409,
    message:
      'You have already appealed this decision. The outcome arrives as a note: GET /me/notes.',
  },
  storage_full: {
    status: 409,
    message: ({ max }) =>
      `You have reached your storage limit of ${formatSize(max)}. Delete apps or assets first.`,
  },
  reports_limit: {
    status: 429,
    code: 'rate_limited',
    message: (facts) =>
      `Your address has reached the daily limit of ${facts.max} reports. ${retryHint(facts)}`,
  },
  no_builder: {
    status: 503,
    message: ({ why = 'No model can build pages right now.' }) =>
      `${why} Nothing was charged. Write the page yourself and send it as "html", which is free.`,
  },
  no_studio: {
    status: 503,
    message: 'The studio could not be opened. Nothing was charged. Try again in a minute.',
  },
  builds_limit: {
    status: 429,
    message: (facts) =>
      `You have reached the limit of ${facts.max} builds an hour. ${retryHint(facts)} Or write the page yourself and send it as "html".`,
  },
} satisfies ErrorRows
