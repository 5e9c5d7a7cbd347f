/**
 * Errors of the namespaces of `claude.use`, whose codes differ from those of `service`. Pages
 * branch on `code`. Source: the type definitions that Claude serves to pages (November 2026).
 */
import { field } from '../frame/messages.ts'
import { failure } from './bridge-calls.ts'

/** The codes of a namespace by those of `service`. Every other code stays. */
export type Codes = Readonly<Record<string, string>>

/** Codes that mean the same in every namespace. */
const common: Codes = {
  closed: 'revoked',
  failed: 'upstream_error',
  not_declared: 'not_granted',
  not_signed_in: 'not_granted',
}

/** Returns an error of `service` as the pages of a namespace know it. */
export function claudeError(error: unknown, codes: Codes, more: object = {}): Error {
  const code = String(field(error, 'code') ?? 'failed')
  const message = String(field(error, 'message') ?? error)
  return Object.assign(failure(codes[code] ?? common[code] ?? code, message), more)
}

/** Returns a function that waits for a call, whose error gets the codes of a namespace. */
export const withCodes =
  (codes: Codes) =>
  async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await work
    } catch (error) {
      throw claudeError(error, codes)
    }
  }
