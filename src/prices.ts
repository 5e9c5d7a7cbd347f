import { fromCredits } from './core/money.ts'

/** What our own work costs, and who gets which share. */
export const startCredits = fromCredits(400)
