import { type Entity, entity } from '../core/entity.ts'
import { sha256 } from '../core/ids.ts'
import type { PublicFile } from '../core/public.ts'
import { escapeHtml } from '../core/text.ts'

/** What every page for people is dressed with. */
export interface Layout {
  style: string
  headers: Record<string, string>
  icon: Entity
}

/** Reads the style once; its hash is all that the pages' CSP lets run or load. */
export function openLayout(files: Map<string, PublicFile>): Layout {
  const style = new TextDecoder().decode(theFile(files, 'css/web.css').identity)
  const icon = theFile(files, 'icons/berth.svg')
  const hash = Buffer.from(sha256(style), 'hex').toString('base64')
  return {
    style,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        `default-src 'none'; style-src 'sha256-${hash}'; img-src 'self'; form-action 'self'; ` +
        "base-uri 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    },
    icon: entity(icon, { 'content-type': icon.type, 'cache-control': 'max-age=86400' }),
  }
}

function theFile(files: Map<string, PublicFile>, name: string): PublicFile {
  const file = files.get(name)
  if (!file) throw new Error(`public/dist has no ${name}: run bun run public`)
  return file
}

/** A page: `main` is HTML that is safe already, `title` is text. */
export function pageAnswer(layout: Layout, title: string, main: string, status = 200): Response {
  const body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<style>${layout.style}</style>
<body>
<header><a class="name" href="/">Berth</a><a href="/api/docs">Docs</a><a href="/skill.md">For agents</a></header>
<main>${main}</main>
`
  return new Response(body, { status, headers: layout.headers })
}
