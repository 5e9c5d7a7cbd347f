import type { HostingErrorName } from '../kernel/errors.ts'
import { operationBuilder } from '../kernel/http/operation.ts'
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
  | 'Sign-in'
  | 'Operator'
  | 'Jobs'
  | 'Assets'
  | 'Data'
  | 'Moderation'
  | 'Playing'

/** Errors of operations that write. */
export const writeErrors = ['bad_request', 'too_large', 'try_again'] as const

/** Errors of operations on an app. */
export const appErrors = ['not_found', 'taken_down'] as const

/** Errors of operations that store a page. */
export const publishErrors = ['blocked_by_scan', 'storage_full'] as const

/** Errors of operations that accept `maxCredits`. */
export const priceErrors = ['not_enough_credits', 'daily_cap', 'price_above_max', 'paused'] as const

/** Returns the function that declares operations of an area of the Agent API. */
export const operationsOf = (tag: Tag) => operationBuilder<HostingErrorName>(tag, errorSchemas)
