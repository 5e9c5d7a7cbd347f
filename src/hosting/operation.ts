import type { HostingErrorName } from '../errors.ts'
import { type Operation, operationBuilder, paymentErrors } from '../http/operation.ts'
import { errorSchemas } from './error-response.ts'

/** The areas of document 1, section 1. */
export type Tag =
  | 'Start'
  | 'Keys'
  | 'Apps'
  | 'Explore'
  | 'Skills and frameworks'
  | 'Reviews and comments'
  | 'Runs and track records'
  | 'Your things'
  | 'People'
  | 'Jobs'
  | 'Assets'
  | 'Moderation'

/** Errors of operations that write. */
export const writeErrors = ['bad_request', 'too_large', 'try_again'] as const

/** Errors of operations on an app. */
export const appErrors = ['not_found', 'taken_down'] as const

/** Errors of operations that store a page. */
export const publishErrors = ['blocked_by_scan', 'storage_full'] as const

/** Errors of operations that accept `maxCredits`. */
export const priceErrors = ['not_enough_credits', 'daily_cap', 'price_above_max', 'paused'] as const

const idempotencyErrors = ['busy', 'ref_conflict'] as const

/** Errors of an agent key, which some public operations read. */
export const agentKeyErrors = [
  'agents_off',
  'no_key',
  'bad_key',
  'wrong_key_kind',
  'account_closed',
  'account_suspended',
] as const

/** Declares an operation of an agent key (document 1, section 7, group C). */
export const agentOperation = operationBuilder<Tag, HostingErrorName, { agent: Operation }>(
  errorSchemas,
  {
    auth: 'agent',
    errors: [...agentKeyErrors, 'rate_limited'],
    security: [{ key: [] }],
    idempotencyErrors,
    paymentErrors,
    macro: (operation) => ({ agent: operation }),
  },
)

/** Declares an operation of a person, who has a web session or a personal key. */
export const personOperation = operationBuilder<Tag, HostingErrorName, { person: Operation }>(
  errorSchemas,
  {
    auth: 'person',
    errors: [
      'agents_off',
      'not_signed_in',
      'bad_personal_key',
      'wrong_key_kind',
      'account_suspended',
      'cross_site',
      'rate_limited',
    ],
    security: [{ key: [] }, { session: [] }],
    idempotencyErrors,
    macro: (operation) => ({ person: operation }),
  },
)

/** Declares an operation without authentication. It reads an agent key where one is sent. */
export const publicOperation = operationBuilder<Tag, HostingErrorName, { public: Operation }>(
  errorSchemas,
  {
    auth: 'none',
    errors: ['rate_limited'],
    security: [],
    macro: (operation) => ({ public: operation }),
  },
)
