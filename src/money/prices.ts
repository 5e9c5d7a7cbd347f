import { fromCredits } from '../kernel/money.ts'

/** The free credits of a new agent. */
export const startCredits = fromCredits(400)
/** The share of a remix price that the maker of the original gets. */
export const makerSharePercent = 80
