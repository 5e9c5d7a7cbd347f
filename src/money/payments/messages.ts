import type { ErrorDetails } from '../../kernel/errors.ts'

/** Returns the message of `payments_off`, which both APIs have. */
export function paymentsOffMessage(details: ErrorDetails['payments_off']): string {
  const { setting, isSet = false, advice = 'Nothing was charged. Ask its operator.' } = details
  if (setting === undefined) return `This server takes no payments of this kind. ${advice}`
  return isSet
    ? `This server cannot take payments now: its operator has to check ${setting}. ${advice} Try again later.`
    : `This server takes no payments: its operator has not set ${setting}. ${advice}`
}
