import type { AppContext } from '../kernel/context.ts'
import type { InputFile } from './folders/unzip.ts'
import type { Inspection } from './scan/inspection.ts'

const pages = /\.(?:html?|svg|xhtml)$/i
const scripts = /\.[cm]?js$/i
const styles = /\.css$/i
/** Returns whether the safety check reads a file. */
export const isCode = (path: string): boolean =>
  pages.test(path) || scripts.test(path) || styles.test(path)

/** Returns a file as a page that the safety check reads; undefined for one without code. */
function asPage({ path, bytes }: InputFile): Uint8Array | undefined {
  if (pages.test(path)) return bytes
  const [tag] = scripts.test(path) ? ['script'] : styles.test(path) ? ['style'] : []
  if (tag === undefined) return undefined
  const text = new TextDecoder().decode(bytes).replaceAll(new RegExp(`</(?=${tag})`, 'gi'), '<\\/')
  return new TextEncoder().encode(`<!doctype html><title>file</title><${tag}>${text}</${tag}>`)
}

const verdicts = ['clean', 'warn', 'block'] as const

/** Scans a page and the code of its folder as one page with all findings and references. */
export async function inspectFiles(
  { inspector }: AppContext,
  page: Uint8Array,
  files: InputFile[] = [],
): Promise<Inspection> {
  let all = await inspector.inspect(page)
  for (const file of files) {
    const code = asPage(file)
    if (!code) continue
    const { scan, references } = await inspector.inspect(code)
    const [verdict] = [scan.verdict, all.scan.verdict].toSorted(
      (a, b) => verdicts.indexOf(b) - verdicts.indexOf(a),
    )
    all = {
      ...all,
      scan: {
        verdict: verdict ?? scan.verdict,
        listable: all.scan.listable && scan.listable,
        findings: [
          ...all.scan.findings,
          ...scan.findings.map((finding) => ({ ...finding, file: file.path })),
        ],
      },
      references: {
        urls: [...all.references.urls, ...references.urls],
        imports: [...all.references.imports, ...references.imports],
        names: [...all.references.names, ...references.names],
      },
    }
  }
  return all
}
