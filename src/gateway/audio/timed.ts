import type { Price } from '../../models/price.ts'

/** Whether a price counts seconds. */
export const isTimed = ({ perSecond, perMinute }: Price): boolean =>
  perSecond !== undefined || perMinute !== undefined
