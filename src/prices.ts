import { fromCredits } from './core/money.ts'

/** What our own work costs, and who gets which share. */
export const startCredits = fromCredits(400)
/** Of a priced remix, for the maker of what was copied. */
export const makerSharePercent = 80
