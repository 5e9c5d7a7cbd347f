import { type BuilderKind, builderKind } from '../../apps/builds/builder-kind.ts'
import { readyMadePages } from '../../gateway/providers/demo/builder/prompt-analysis.ts'
import type { AppContext } from '../../kernel/context.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { t } from '../../kernel/words/message.ts'

/** The ways to an app that need no model, as cards. `page` is the place of the upload form. */
export const otherWays = (page: '/new#page' | '#page'): Html =>
  html`<ul class="ways">
    <li>
      <a href="${page}">
        <strong>Paste or upload a page</strong>
        <span>An HTML file, a folder or a zip. Try it here before you have an account.</span>
      </a>
    </li>
    <li>
      <a href="/explore?price=free">
        <strong>Remix an app</strong>
        <span>Copy one that you like with its code, and change it in the studio.</span>
      </a>
    </li>
    <li>
      <a href="/#for-agents">
        <strong>Connect your agent</strong>
        <span>It writes the page with its own model, publishes it and gives you the link.</span>
      </a>
    </li>
  </ul>`

const limits = (kind: Exclude<BuilderKind, 'model'>): string =>
  kind === 'none'
    ? t('This server has no model that builds what you describe.')
    : t(
        'This server has no model that builds what you describe. Its demo builder makes ready-made pages from your words: {readyMadePages}.',
        { readyMadePages: t(readyMadePages) },
      )

/** Says what the builder cannot do, and to the operator how to change that. */
export function builderLimits(ctx: AppContext, isOperator = false): Part {
  const kind = builderKind(ctx)
  if (kind === 'model') return false
  const add =
    isOperator &&
    html` <a href="/console/providers">Add a model</a>: paste the key of a provider, or use a server
      of this machine.`
  return html`<p class="small limits">${limits(kind)}${add}</p>`
}
