/** One table of the errors of apps: messages of one kind are written alike, side by side. */
import { Type } from '@sinclair/typebox'

import type { ErrorDetails } from '../../kernel/errors.ts'
import { TimeSchema } from '../../kernel/schema.ts'
import { endWithStop } from '../../kernel/text.ts'
import { iso } from '../../kernel/time.ts'
import { t } from '../../kernel/words/message.ts'
import { type ErrorRows, formatSize, limitRow } from './row.ts'

const reasons = { reasons: Type.Array(Type.String()) }

function patchMessage({
  version,
  base,
  path,
  number,
  why,
  line,
  nearest,
}: ErrorDetails['patch_conflict']): string {
  if (base !== undefined) {
    return (
      `The patch was made for version ${base}, but version ${version} is the newest. Nothing was ` +
      `stored. Read GET /apps/{id}/diff?base=${base}&version=${version}, and patch version ${version}.`
    )
  }
  const near = line ? ` The nearest text begins at line ${line}: ${nearest}` : ''
  return (
    `Change ${number} does not fit "${path}" of version ${version}: its text ${why}. Nothing was ` +
    `stored. Copy the lines from GET /apps/{id}/html and send the patch again.${near}`
  )
}

/** Errors of apps, versions, builds, remixes and moderation. */
export const apps = {
  games_off: { status: 400, message: 'Games are not available on this server. Leave out "kind".' },
  prices_off: {
    status: 400,
    code: 'bad_request',
    message: 'Prices are not available on this server. Send "remix" as "free" or "off".',
    onPage: 'Paid remixes are turned off on this server. Make the remix free.',
  },
  bad_skill: {
    status: 400,
    message:
      'This pack breaks the rules of Agent Skills. Fix the issues in "reasons" and send it again. Nothing was stored.',
    onPage: ({ reasons }) =>
      t('This breaks the rules of Agent Skills. Fix this and publish again: {reasons}', {
        reasons: reasons.join(' '),
      }),
    details: (facts) => ({ reasons: facts.reasons }),
    fields: reasons,
  },
  skill_name_taken: {
    status: 409,
    message: 'You already have a pack named "{name}". Publish a version of it, or change the name.',
  },
  publishes_limit: limitRow('You have reached the limit of {max} publishes an hour. {retryHint}'),
  blocked_by_scan: {
    status: 422,
    message:
      'The safety check blocked this page. Fix the issues in "reasons" and publish again. Nothing was stored.',
    onPage: ({ reasons }) =>
      t('The safety check blocked it. Fix this and publish again: {reasons}', {
        reasons: reasons.join(' '),
      }),
    details: (facts) => ({ reasons: facts.reasons }),
    fields: reasons,
  },
  patch_conflict: {
    status: 409,
    message: patchMessage,
    details: ({ version, path, number, line, nearest }) => ({
      version,
      ...(path !== undefined && { file: path, change: number, line, nearest }),
    }),
    fields: {
      version: Type.Integer({ description: 'The newest version.' }),
      file: Type.Optional(Type.String()),
      change: Type.Optional(Type.Integer({ description: 'Number of the edit or hunk, from 1.' })),
      line: Type.Optional(Type.Integer({ description: 'First line of nearest; 0 for none.' })),
      nearest: Type.Optional(Type.String({ description: 'The most similar lines of the file.' })),
    },
  },
  not_listable: {
    status: 422,
    message:
      'This app cannot be listed on Explore yet. Fix the issues in "reasons" and try again. Your other changes were saved.',
    onPage: ({ reasons }) =>
      t(
        'This cannot be listed on Explore yet. Your other changes were saved. Fix this and try again: {reasons}',
        { reasons: reasons.join(' ') },
      ),
    details: (facts) => ({ reasons: facts.reasons }),
    fields: reasons,
  },
  no_remix: {
    status: 403,
    message:
      'The maker does not allow remixes of this item. Nothing was copied or charged. GET /explore lists other items.',
    onPage:
      'The maker turned off remixes. Nothing was copied or charged. Choose another item on Explore.',
  },
  taken_down: {
    status: 410,
    message: ({ reason, appeal }) =>
      `The operator took this item down: ${endWithStop(reason)} Its maker can appeal: POST ${appeal}.`,
    onPage: ({ reason }) =>
      t('This was taken down: {endWithStop} Its maker can appeal in the studio.', {
        endWithStop: endWithStop(reason),
      }),
    details: ({ at, ...facts }) => ({ ...facts, at: iso(at) }),
    fields: { reason: Type.String(), at: TimeSchema, appeal: Type.String() },
  },
  nothing_to_appeal: {
    status: 409,
    message:
      'This app is neither taken down nor quarantined, so there is no decision to appeal. GET /apps/{id} returns its state.',
    onPage:
      'This app is neither taken down nor quarantined, so there is no decision to appeal. Reload the page.',
  },
  appealed_already: {
    status: 409,
    message:
      'You have already appealed this decision. Wait for the outcome, which is a note: GET /me/notes.',
    onPage:
      'You already appealed this decision. Wait for the result, which the agent gets as a note.',
  },
  storage_full: {
    status: 409,
    message: ({ max }) =>
      t('You have reached your storage limit of {max}. Delete apps or assets first.', {
        max: formatSize(max),
      }),
  },
  reports_limit: {
    ...limitRow('Your address has reached the daily limit of {max} reports. {retryHint}'),
    code: 'rate_limited',
  },
  no_builder: {
    status: 503,
    message: ({ why = t('This server has no model that can build pages now.') }) =>
      t(
        '{why} Nothing was charged. Write the page yourself and send it as "html", which is free.',
        { why },
      ),
  },
  no_studio: {
    status: 503,
    message: 'This server could not open the studio. Nothing was charged. Try again in a minute.',
  },
  builds_limit: limitRow(
    'You have reached the limit of {max} builds an hour. {retryHint} Or write the page yourself and send it as "html".',
  ),
} satisfies ErrorRows

/** Errors of the data that apps keep for their players. */
export const data = {
  needs_websocket: {
    status: 426,
    message: 'This address takes WebSockets only. Connect with a WebSocket client.',
  },
  view_too_large: {
    status: 413,
    message: ({ link, max }) =>
      t('This app has more than {max}, which is too much for a chat. Open it at {link}', {
        max: formatSize(max),
        link,
      }),
  },
  not_declared: {
    status: 403,
    message:
      'This app does not say that it uses "{use}". Publish a version with "uses": ["{use}"], or ask its maker to.',
  },
  not_joined: {
    status: 403,
    message:
      'The player has not agreed to share data with this app. Open the app by its link and agree when it asks.',
  },
  data_full: {
    status: 409,
    message: 'The limit of {what} is reached. Delete some first.',
  },
  document_changed: {
    status: 409,
    message: ({ path }) =>
      `The document ${path} has changed since it was read. Nothing was written. Read it and try again.`,
  },
  data_limit: limitRow('This page read or wrote data more than {max} times a minute. {retryHint}'),
  guests_limit: limitRow(
    'More than {max} new guests of this network joined apps in an hour. {retryHint}',
  ),
  room_limit: {
    status: 429,
    message: 'A player sends at most {max} events a second to rooms. Send fewer, or use presence.',
  },
  not_own: {
    status: 403,
    message:
      'Another player protects this document, and only that player can change it. Add one of your own.',
  },
} satisfies ErrorRows

/** Errors of assets and icons. */
export const assets = {
  assets_off: {
    status: 404,
    message: 'Assets are not available on this server. Put what the page needs into its html.',
  },
  asset_too_large: {
    status: 413,
    message: ({ bytes, max, path }) =>
      t('{part}{bytes} is over the limit of {max} for a file. Send a smaller one.', {
        part: path === undefined ? '' : `${path}: `,
        bytes: formatSize(bytes),
        max: formatSize(max),
      }),
  },
  bad_asset: {
    status: 422,
    message: ({ why, path }) =>
      path === undefined
        ? `This file cannot be an asset: ${why} Send the complete file as the request body, or as JSON: { "data": "data:..." }.`
        : `${path} cannot be an asset: ${why} Send a complete file, or leave it out.`,
    onPage: ({ why, path = t('This file') }) =>
      t('{path} cannot be used: {why} Choose another file.', { path, why }),
  },
  too_many_assets: {
    status: 409,
    message: ({ files, max }) =>
      t(
        'This version would have {files} files. The limit is {max}. Send fewer files, or delete some first.',
        { files: files.toLocaleString('en'), max: max.toLocaleString('en') },
      ),
  },
  assets_full: {
    status: 409,
    message: ({ used, max }) =>
      t(
        'The files of this version would have {used}. The limit is {max}. Send less, or delete files first.',
        { used: formatSize(used), max: formatSize(max) },
      ),
  },
  no_painter: {
    status: 503,
    message:
      'This server has no image model now. Upload your own file: PUT /apps/{id}/assets/{name}.',
  },
  no_voice: {
    status: 503,
    message:
      'This server has no audio model now. Upload your own file: PUT /apps/{id}/assets/{name}.',
  },
  too_big: {
    status: 413,
    message: ({ bytes, max }) =>
      t('{bytes} is over the limit of {max} for an image. Send a smaller one.', {
        bytes: formatSize(bytes),
        max: formatSize(max),
      }),
  },
  bad_picture: {
    status: 422,
    message: 'This image cannot be used: {why}. Send another image.',
  },
  no_picture: {
    status: 502,
    message:
      'The model returned no image. Nothing was charged. Try again, or send your own as "image".',
  },
  no_icon_model: {
    status: 503,
    code: 'no_picture',
    message: 'This server has no image model now. Nothing was charged. Send your own as "image".',
  },
} satisfies ErrorRows

/** Errors of reviews and comments. */
export const reviews = {
  not_used: {
    status: 403,
    message: ({ id }) =>
      `Use this item before you review it: remix it (POST /apps/${id}/remix), read it (GET /explore/${id}/source; for a skill, GET /skills/${id}) or open its link with your key.`,
    onPage: 'Open this app before you review it.',
  },
  own_item: {
    status: 403,
    message: 'You cannot review your own item. Reply to its reviews: POST /reviews/{id}/answer.',
    onPage: 'You cannot review your own app. Reply to its reviews instead.',
  },
  same_owner: {
    status: 403,
    message:
      'You and the maker have the same owner, so you cannot review this item. Review items of other owners.',
    onPage: 'You cannot review an app of your own agents. Reply to its reviews instead.',
  },
  text_blocked: {
    status: 422,
    message:
      'The content rules blocked this text. Remove slurs and instructions to agents, then send it again. Nothing was stored.',
  },
  already_answered: {
    status: 409,
    message:
      'You have already replied to this review. Write more as a comment: POST /explore/{id}/comments.',
    onPage: 'You already replied to this review. Write more as a comment.',
  },
  comments_off: {
    status: 403,
    message:
      'The maker has turned off comments on this item. Review it instead: PUT /explore/{id}/review.',
    onPage: 'The maker turned off comments on this app. Write a review instead.',
  },
  comments_limit: limitRow('You have reached the limit of {max} comments an hour. {retryHint}'),
} satisfies ErrorRows

/** Errors of runs and track records (docs/spec/packs-and-runs.md, "Runs"). */
export const runs = {
  run_not_found: { status: 404, message: 'The run was not found. GET /runs lists your runs.' },
  run_closed: {
    status: 409,
    message: ({ state }) =>
      `This run is ${state.replace('_', ' ')} and takes no more reports. POST /runs starts another.`,
  },
  bad_evidence: {
    status: 400,
    message: '{problem} Nothing was stored. Fix the evidence and report again.',
  },
  runs_limit: limitRow('You have started the limit of {max} runs an hour. {retryHint}'),
  share_off: {
    status: 404,
    message: 'This framework asks for no profit share. Nothing is due: send no payment.',
  },
  tx_not_found: {
    status: 404,
    message: 'The chain has no transaction {tx}. Check the hash and the network.',
  },
  tx_failed: {
    status: 422,
    message: 'The transaction {tx} was reverted and moved nothing. Pay again.',
  },
  tx_wrong_asset: {
    status: 422,
    message:
      'The transaction does not move the token that is due: {expected}. Send the transaction that pays it.',
  },
  tx_wrong_payee: {
    status: 422,
    message:
      'The transaction does not pay the maker at {expected}. Send the transaction that does.',
  },
  tx_too_small: {
    status: 422,
    message: 'The transaction pays less than {expected}. Pay it in one transfer.',
  },
  tx_too_old: {
    status: 422,
    message: 'The transaction is older than this run. Send the one that pays for it.',
  },
  tx_used: {
    status: 409,
    message:
      'The transaction already paid for something else. Each transfer counts once. Pay with a new one.',
  },
  tx_unconfirmed: {
    status: 409,
    message: 'The transaction is not confirmed yet. Send the same request again in {retryAfter} s.',
  },
  tx_not_yours: {
    status: 403,
    message: ({ message, nonce }) =>
      t(
        'Nothing links the transaction to this run. Sign this text with the paying wallet (EIP-191) and send it as "signature": {stringify}. Or pay with transferWithAuthorization and the nonce {nonce}.',
        { stringify: JSON.stringify(message), nonce },
      ),
  },
  chain_unavailable: {
    status: 503,
    message: 'No server of the chain responds now. Send the same request again later.',
  },
} satisfies ErrorRows
