import { afterEach, beforeEach, describe, expect, test } from 'bun:test'

import { folder, publishPack, skillText, steps } from '../../testing/fixtures/folders.ts'
import { shownPage } from '../../testing/fixtures/shown-page.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'
import { renderMarkdown } from './render-markdown.ts'

let ctx: TestServer
let ann: TestAgent

beforeEach(async () => {
  ctx = await startTestServer()
  ann = await ctx.agent('ann')
})
afterEach(() => ctx.close())

const pageOf = async (path: string): Promise<string> => {
  const { status, body } = await ctx.request('GET', path, { headers: { accept: 'text/html' } })
  expect(status).toBe(200)
  return String(body)
}

describe('the page of a pack', () => {
  test('has its instructions, files and a line for each agent', async () => {
    const id = await publishPack(ann, { ...folder(), store: true })
    const page = await pageOf(`/explore/${id}`)
    expect(shownPage(page).names('heading')).toContain('Release notes')
    expect(page).not.toContain('description: Writes')
    const link = `http://localhost:3000/skills/${id}.tar.gz`
    for (const skills of ['~/.claude/skills', '~/.agents/skills', '~/.config/opencode/skills']) {
      expect(page).toContain(`curl -fsSL ${link} | tar xz -C ${skills}`)
    }
    expect(page).toContain(`/explore/${id}?file=references%2Ftone.md`)
    expect(page).not.toContain(`/a/${id}`)
    const file = await pageOf(`/explore/${id}?file=scripts%2Flist.sh`)
    expect(file).toContain('git log --oneline')
    expect(shownPage(await pageOf(`/explore/${id}?file=nothing`)).names('heading')).toContain(
      'Release notes',
    )
  })

  test('has the steps of a framework', async () => {
    const id = await publishPack(ann, { ...folder(), steps, store: true }, 'framework')
    const page = await pageOf(`/explore/${id}`)
    expect(page).toContain('Draft the notes')
    expect(page).toContain(`http://localhost:3000/frameworks/${id}.tar.gz`)
  })

  test('is where the link leads', async () => {
    const id = await publishPack(ann, { ...folder(), store: true })
    const { status, headers } = await ctx.request('GET', `/skills/${id}`)
    expect([status, headers.get('location')]).toEqual([302, `/explore/${id}`])
  })

  test('stands on Explore and on the page of its maker', async () => {
    const id = await publishPack(ann, { ...folder(), store: true })
    for (const path of ['/explore?kind=skill', '/explore/@ann', '/explore', '/']) {
      expect(await pageOf(path)).toContain(`href="/explore/${id}"`)
    }
    expect(await pageOf('/explore?kind=framework')).not.toContain(id)
    const { body } = await ctx.request('GET', '/sitemap.xml')
    expect(body).toContain(`/skills/${id}`)
  })
})

describe('Markdown of strangers', () => {
  const render = (text: string): string =>
    renderMarkdown({
      text,
      path: 'references/tone.md',
      files: ['SKILL.md', 'references/tone.md', 'assets/a b.png'],
      viewUrl: '/explore/x?file=',
      contentUrl: '/skills/x/files/',
    })

  test.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<svg onload=alert(1)><style>*{}</style></svg>',
    '<iframe src="https://evil.example"></iframe>',
    '<a href="javascript:alert(1)" onclick="alert(1)">x</a>',
    '[x](javascript:alert(1))',
    '[x](data:text/html,<script>)',
    '[x](//evil.example)',
    '<form action="https://evil.example"><input name=a></form>',
    '<div id="main" style="position:fixed">x</div>',
    '<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>',
    '![x](https://evil.example/track.png)',
    '<base href="https://evil.example/"><meta http-equiv="refresh" content="0">',
  ])('%s loses what acts', (text) => {
    const shown = render(text)
    expect(shown).not.toMatch(
      /<(?!\/?(?:p|a|em|s|img|strong|code)\b)|\son|style=|javascript:|data:|evil\.example\/?"|id=/i,
    )
  })

  test('links to files of the folder and to the web', () => {
    expect(render('[a](../SKILL.md)')).toContain('href="/explore/x?file=SKILL.md"')
    expect(render('[a](../../SKILL.md#x)')).toContain('href="/explore/x?file=SKILL.md"')
    expect(render('[a](other.md)')).toBe('<p><s>a</s></p>\n')
    expect(render('![a](<../assets/a b.png>)')).toContain('src="/skills/x/files/assets/a%20b.png"')
    const web = render('[a](https://example.com/b)')
    expect(web).toContain('href="https://example.com/b"')
    expect(web).toContain('rel="nofollow ugc noopener noreferrer"')
    expect(render('[a](%E0%A4%A)')).toBe('<p><s>a</s></p>\n')
  })

  test('keeps its structure below the headings of the page', () => {
    expect(render('# A\n\n## B\n\n- c\n\n| d |\n|:-:|\n| e |')).toContain('<h3>A</h3>\n<h4>B</h4>')
  })

  test('is shown as text where it takes too long', async () => {
    const hostile = `${skillText('slow')}\n${'>'.repeat(20_000)}\n`
    const id = await publishPack(ann, { skill: hostile, store: true })
    expect(await pageOf(`/explore/${id}`)).toContain('List each change.')
  })
})
