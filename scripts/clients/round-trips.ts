import { roundTrips } from '../../src/testing/clients/round-trips/all.ts'
import { runRoundTrip } from '../../src/testing/clients/round-trips/task.ts'
import { type Results, runEveryKind } from './every-kind.ts'

/** Runs round trips of packages of package.json, plain and streamed. Throws if one fails. */
export const runRoundTrips = (names: string[]): Promise<Results> =>
  runEveryKind(async (target) => {
    for (const name of names) {
      const trip = roundTrips[name]
      if (!trip) throw new Error(`There is no round trip "${name}".`)
      for (const form of ['plain', 'streamed'] as const) await runRoundTrip(trip, target, form)
    }
  })
