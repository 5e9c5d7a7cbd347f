import type { AppContext } from '../kernel/context.ts'
import { mediaTypeOf } from './assets/upload.ts'
import type { InputFile } from './folders/unzip.ts'
import type { Scan } from './scan/findings.ts'
import type { Inspection } from './scan/inspection.ts'
import type { Effect } from './scan/rules.ts'
import { joinUses, type PageUses, sharesData, type Use, withDeclared } from './uses/uses.ts'

const pages = /^text\/html|^image\/svg|^application\/xhtml/
const scripts = /^text\/javascript/
const styles = /^text\/css/
/** Returns whether the safety check reads a file: one that is served as code. */
export const isCode = (path: string): boolean =>
  [pages, scripts, styles].some((type) => type.test(mediaTypeOf(path)))

/** Returns a file as a page that the safety check reads; undefined for one without code. */
function asPage({ path, bytes }: InputFile): Uint8Array | undefined {
  const type = mediaTypeOf(path)
  if (pages.test(type)) return bytes
  const [tag] = scripts.test(type) ? ['script'] : styles.test(type) ? ['style'] : []
  if (tag === undefined) return undefined
  const text = new TextDecoder().decode(bytes).replaceAll(new RegExp(`</(?=${tag})`, 'gi'), '<\\/')
  return new TextEncoder().encode(`<!doctype html><title>file</title><${tag}>${text}</${tag}>`)
}

const verdicts = ['clean', 'warn', 'block'] as const

const findingsMax = 200

/** Returns at most 200 findings: those that block first, when there are more. */
function mostSerious<Found extends { effect: Effect }>(findings: Found[]): Found[] {
  if (findings.length <= findingsMax) return findings
  const blocks = findings.filter(({ effect }) => effect === 'block')
  return [...new Set([...blocks, ...findings])].slice(0, findingsMax)
}

/**
 * Scans a page and the code of its folder as one page with all findings and references. `declared`
 * are uses of `service` that the maker declared.
 */
export async function inspectFiles(
  { inspector }: AppContext,
  page: Uint8Array,
  { files = [], declared }: { files?: InputFile[] | undefined; declared?: Use[] | undefined } = {},
): Promise<Inspection> {
  let all = await inspector.inspect(page)
  for (const file of files) {
    const code = asPage(file)
    if (!code) continue
    // Small files are scanned at once. Other requests run between them.
    await Bun.sleep(0)
    const { scan, references, uses, credentials } = await inspector.inspect(code, file.path)
    const [verdict] = [scan.verdict, all.scan.verdict].toSorted(
      (a, b) => verdicts.indexOf(b) - verdicts.indexOf(a),
    )
    all = {
      ...all,
      scan: {
        verdict: verdict ?? scan.verdict,
        listable: all.scan.listable && scan.listable,
        findings: mostSerious([
          ...all.scan.findings,
          ...scan.findings.map((finding) => ({ ...finding, file: file.path })),
        ]),
      },
      uses: joinUses([all.uses, uses]),
      credentials: all.credentials ?? (credentials && { ...credentials, file: file.path }),
      references: {
        urls: [...all.references.urls, ...references.urls],
        imports: [...all.references.imports, ...references.imports],
        names: [...all.references.names, ...references.names],
      },
    }
  }
  const asksCredentials = all.credentials !== undefined
  const uses = withDeclared({ ...all.uses, asksCredentials }, declared)
  return { ...all, uses, scan: withCredentials(all, uses) }
}

/** Blocks a page that asks for credentials, and could send them to other players. */
function withCredentials({ scan, credentials }: Inspection, uses: PageUses): Scan {
  if (!credentials || !sharesData(uses)) return scan
  return { verdict: 'block', listable: false, findings: [credentials, ...scan.findings] }
}
