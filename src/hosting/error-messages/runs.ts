import { type ErrorRows, retryHint } from './row.ts'

/** Errors of runs and track records (docs/spec/packs-and-runs.md, "Runs"). */
export const runs = {
  run_not_found: { status: 404, message: 'The run was not found. GET /runs lists your runs.' },
  run_closed: {
    status: 409,
    message: ({ state }) =>
      `This run is ${state.replace('_', ' ')} and takes no more reports. POST /runs starts another.`,
  },
  bad_evidence: { status: 400, message: ({ problem }) => `${problem} Nothing was stored.` },
  runs_limit: {
    status: 429,
    message: (facts) =>
      `You have started the limit of ${facts.max} runs an hour. ${retryHint(facts)}`,
  },
} satisfies ErrorRows
