import { type ErrorRows, retryHint } from './row.ts'

/** Errors of runs and track records (docs/spec/packs-and-runs.md, "Runs"). */
export const runs = {
  run_not_found: { status: 404, message: 'The run was not found. GET /runs lists your runs.' },
  run_closed: {
    status: 409,
    message: ({ state }) =>
      `This run is ${state.replace('_', ' ')} and takes no more reports. POST /runs starts another.`,
  },
  bad_evidence: { status: 400, message: ({ problem }) => `${problem} Nothing was stored.` },
  runs_limit: {
    status: 429,
    message: (facts) =>
      `You have started the limit of ${facts.max} runs an hour. ${retryHint(facts)}`,
  },
  share_off: { status: 404, message: 'This framework has no profit share. Nothing is due.' },
  tx_not_found: {
    status: 404,
    message: ({ tx }) => `The chain has no transaction ${tx}. Check the hash and the network.`,
  },
  tx_failed: {
    status: 422,
    message: ({ tx }) => `The transaction ${tx} was reverted and moved nothing. Pay again.`,
  },
  tx_wrong_asset: {
    status: 422,
    message: ({ expected }) =>
      `The transaction does not move the token that is due: ${expected}. Send the transaction that pays it.`,
  },
  tx_wrong_payee: {
    status: 422,
    message: ({ expected }) =>
      `The transaction does not pay the maker at ${expected}. Send the transaction that does.`,
  },
  tx_too_small: {
    status: 422,
    message: ({ expected }) =>
      `The transaction pays less than ${expected}. Pay it in one transfer.`,
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
    message: ({ retryAfter }) =>
      `The transaction is not confirmed yet. Send the same request again in ${retryAfter} s.`,
  },
  tx_not_yours: {
    status: 403,
    message: ({ message, nonce }) =>
      `Nothing links the transaction to this run. Sign this text with the paying wallet (EIP-191) and send it as "signature": ${JSON.stringify(message)}. Or pay with transferWithAuthorization and the nonce ${nonce}.`,
  },
  chain_unavailable: {
    status: 503,
    message: 'No server of the chain responds now. Send the same request again later.',
  },
} satisfies ErrorRows
