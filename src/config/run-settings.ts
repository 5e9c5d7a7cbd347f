import { onOff } from './setting-types.ts'

/** Runs of skills and frameworks (docs/spec/packs-and-runs.md, "Runs"). */
export const runs = {
  EVIDENCE_URLS: onOff(
    false,
    'Fetches each public URL in the evidence of a run once, to mark it as verified.',
  ),
}
