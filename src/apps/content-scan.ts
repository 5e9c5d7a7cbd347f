import type { Resolution } from './libraries/resolution.ts'
import type { Finding, Scan } from './scan/findings.ts'
import type { Inspection } from './scan/inspection.ts'
import type { PageUses } from './uses/uses.ts'

/** A finding in a page, in a file of its folder, or in a file of a pack. */
export interface ContentFinding extends Omit<Finding, 'code'> {
  code: string
}

/** The result of the safety check of a page or a pack. `listable`: Explore may show it. */
export interface ContentScan {
  verdict: 'clean' | 'warn' | 'block'
  listable: boolean
  findings: ContentFinding[]
}

/** Everything that is derived from the content of a version. */
export interface ContentInspection extends Omit<
  Inspection,
  'scan' | 'references' | 'uses' | 'credentials'
> {
  scan: ContentScan
  /** The compressed archive of a pack. */
  gzip?: Uint8Array
  /** The uses of `service`. */
  uses?: PageUses | undefined
  /** The libraries that a page gets. */
  libraries?: Resolution | undefined
}

/** Returns a scan with other findings, which differ from its own in warnings only. */
export const withWarnings = (scan: Scan, findings: Finding[]): Scan => ({
  ...scan,
  verdict: scan.verdict === 'warn' && findings.length === 0 ? 'clean' : scan.verdict,
  findings,
})
