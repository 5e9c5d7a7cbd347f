import { randomBelow } from '../kernel/ids.ts'

/** True in `./scripts/test all`: random seeds, more rounds, and every journey in each browser. */
export const isThorough = Bun.env['TESTS'] === 'all'

/** Returns whether a part of a long list runs: each in the thorough run, every `step`th in CI. */
export const isPart = (at: number, step: number): boolean => isThorough || at % step === 0

const fixedSeed = 20_261_128

/**
 * The seed of all random tests: the same one in CI, so that a run can be repeated, and a random one
 * in `./scripts/test all`. TEST_SEED repeats a failed run.
 */
export const testSeed = Number(
  Bun.env['TEST_SEED'] ?? (isThorough ? randomBelow(2 ** 31) : fixedSeed),
)
